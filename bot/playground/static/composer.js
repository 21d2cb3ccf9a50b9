// The box one writes in: Enter sends, Shift+Enter breaks the line, a hint offers the question to ask.

import { h } from "./dom.js";

/** A composer. `send(text)` may reject; then the text stays. `where` names its test ids. */
export function composer(where, send) {
  const area = h("textarea", { rows: 1, "data-testid": `composer-${where}`, "aria-label": `Message in the ${where}` });
  const button = h("button", { class: "send", title: "Send", "data-testid": `send-${where}` }, "➤");
  const hint = h("button", { class: "hint", "data-testid": `hint-${where}`, hidden: true });
  const box = h("div", { class: "composer" }, area,
    h("div", { class: "bar" }, h("span", { class: "keys" }, "Enter sends · Shift+Enter for a new line"), button));
  const drafts = new Map();
  let here = "";
  const fit = () => {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 180)}px`;
    button.classList.toggle("ready", area.value.trim() !== "");
    hint.hidden = !hint.dataset.text || area.value !== "";
  };
  const submit = async () => {
    const text = area.value.trim();
    if (!text) return;
    area.value = "";
    fit();
    if (!(await send(text))) {
      area.value = text;
      fit();
    }
  };
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  });
  button.addEventListener("click", submit);
  hint.addEventListener("click", () => {
    area.value = hint.dataset.text;
    fit();
    area.focus();
  });
  return {
    nodes: [hint, box],
    placeholder(text) {
      area.placeholder = text;
    },
    suggest(text) {
      if (hint.dataset.text === text) return;
      hint.dataset.text = text;
      hint.replaceChildren("Try: ", h("b", {}, text));
      fit();
    },
    /** Put the draft of another place into the box; what was in it waits for its own place. */
    moveTo(place) {
      if (place === here) return;
      drafts.set(here, area.value);
      here = place;
      area.value = drafts.get(place) ?? "";
      fit();
    },
  };
}
