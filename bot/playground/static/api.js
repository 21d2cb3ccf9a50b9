// Talks to the control API of the local Slack: one person's view, acts, and the live stream.

export async function fetchView(viewer) {
  const response = await fetch(`/_control/view?as=${encodeURIComponent(viewer)}`, { cache: "no-store" });
  if (!response.ok) throw new Error(`the view answered ${response.status}`);
  return response.json();
}

/** Do something as a person; throws with the reason when it is not allowed. */
export async function act(name, body) {
  const response = await fetch(`/_control/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!answer.ok) throw new Error(answer.message ?? answer.error);
  return answer;
}

/** Call `changed` whenever the world changed, and once at the start. */
export function watch(changed) {
  const source = new EventSource("/_control/stream");
  source.onmessage = changed;
  return source;
}
