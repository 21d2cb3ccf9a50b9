// Buttons that copy a text of the page. Where the browser keeps its clipboard from pages (an address
// without encryption), the old way is tried, and else the text is shown and marked, to be copied by hand.

for (const button of document.querySelectorAll("button[data-copies]")) {
  const text = document.getElementById(button.dataset.copies);
  const said = button.nextElementSibling;
  button.addEventListener("click", async () => {
    said.textContent = (await toClipboard(text.textContent)) || byMarking(text)
      ? "Copied." : "It is marked below: copy it from there.";
  });
  button.hidden = false;
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function byMarking(text) {
  text.closest("details").open = true;
  getSelection().selectAllChildren(text);
  return document.execCommand("copy");
}
