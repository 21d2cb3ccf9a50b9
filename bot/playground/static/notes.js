// What the page says by itself, beside the messages: how to begin, what nobody heard, how fast answers come.

import { h } from "./dom.js";

/** Of a conversation without messages. */
export function beginning(channel, users) {
  const bot = channel.kind === "im" && users[channel.with]?.is_app;
  return h("p", { class: "empty", "data-testid": "beginning" }, bot
    ? `This is between you and ${channel.name}. Each message is a question: no mention is needed, and the answer comes in its thread.`
    : "No messages yet.");
}

/** Slack's note to who mentions somebody that is not in the channel; `invite` is null for who may not. */
export function absentNote(name, { invite, leave }) {
  return h("div", { class: "note", "data-testid": "absent", role: "status" },
    h("p", {}, h("small", {}, "Only you can see this"), h("br"), "You mentioned ", h("b", {}, `@${name}`), ", but they are not in this channel and have not seen it."),
    invite ? h("button", { class: "button", "data-testid": "absent-invite", onclick: invite }, "Invite them") : null,
    h("button", { class: "button", "data-testid": "absent-leave", onclick: leave }, invite ? "Do nothing" : "OK"));
}

/** Answers come too fast to be stopped by hand; slow ones leave the time to. */
export function paceSwitch(pace, set) {
  const slow = pace === "slow";
  return h("button", {
    class: "nav",
    role: "switch",
    "data-testid": "pace",
    "aria-checked": String(slow),
    title: "Each answer takes some eight seconds: time to click 🛑 on its question",
    onclick: () => set(slow ? "usual" : "slow"),
  }, h("span", { class: "mark" }, slow ? "☑" : "☐"), h("span", { class: "label" }, "Slow answers, to try 🛑"));
}
