// One message as a DOM node, with its reactions, thread link and hover tools.

import { attachment, block } from "./blocks.js";
import { clockTime, dayName, h } from "./dom.js";
import { emoji, PICKER, QUICK } from "./emoji.js";
import { mrkdwn } from "./mrkdwn.js";

const FACES = { alertmanager: "🚨", oncall: "📟" };

export function avatar(user, small = false) {
  const classes = `avatar${small ? " small" : ""}${user?.is_app ? " bot" : ""}`;
  const name = user?.real_name ?? "?";
  const initials = name.split(/\s+/).map((word) => word[0]).join("").slice(0, 2).toUpperCase();
  const node = h("span", { class: classes, "aria-hidden": "true" }, user?.is_app ? (FACES[user.name] ?? "🤖") : initials);
  node.style.background = `#${/^[0-9a-f]{6}$/i.test(user?.color ?? "") ? user.color : "8d8b8d"}`;
  return node;
}

/** `context`: view, people, inThread, compact, and the acts react, unreact, click, openThread, edit, remove. */
export function message(value, context) {
  const author = context.author(value);
  const body = h("div", { class: "body" });
  if (!context.compact) body.append(byline(value, author, context));
  body.append(...content(value, context));
  if (value.reactions?.length) body.append(reactions(value, context));
  if (!context.inThread && value.reply_count) body.append(replyLink(value, context));
  const side = context.compact
    ? h("time", { class: "gutter" }, clockTime(value.ts))
    : avatar(author);
  const node = h("article", {
    class: "message" + (mentions(value, context.people.me) ? " mentions-me" : ""),
    "data-testid": "message",
    "data-ts": value.ts,
    "data-user": value.user ?? value.bot_id ?? "",
  }, side, body);
  if (value.subtype !== "tombstone") node.append(tools(node, value, context));
  return node;
}

function mentions(value, me) {
  return value.text.includes(`<@${me}>`);
}

function byline(value, author, context) {
  const tags = [];
  if (author?.is_app) tags.push(h("span", { class: "tag" }, "App"));
  if (author?.role === "guest" || author?.role === "single_channel_guest") tags.push(h("span", { class: "tag guest" }, "Guest"));
  if (author?.role === "outsider") tags.push(h("span", { class: "tag outsider" }, author.team));
  const name = value.subtype === "tombstone" ? "" : (author?.real_name ?? value.username ?? "unknown");
  return h("div", { class: "byline" },
    h("b", { "data-testid": "author" }, name), ...tags,
    h("time", { title: dayName(value.ts, context.view.now) }, clockTime(value.ts)));
}

function content(value, context) {
  if (value.subtype === "tombstone") return [h("div", { class: "text tombstone", "data-testid": "message-text" }, value.text)];
  const click = (actionId) => context.click(value, actionId);
  const nodes = [];
  const text = h("div", { class: "text", "data-testid": "message-text" });
  if (value.blocks?.length) {
    text.classList.remove("text");
    text.append(...value.blocks.map((b) => block(b, context.people, click)));
  } else text.append(...mrkdwn(value.text, context.people));
  if (value.edited) text.append(h("span", { class: "edited" }, "(edited)"));
  if (text.childNodes.length) nodes.push(text);
  nodes.push(...(value.attachments ?? []).map((a) => attachment(a, context.people, click)));
  return nodes;
}

function reactions(value, context) {
  return h("div", { class: "reactions" }, ...value.reactions.map((reaction) => {
    const mine = reaction.users.includes(context.people.me);
    const who = reaction.users.map((id) => context.people.userName(id) || id).join(", ");
    return h("button", {
      class: "reaction" + (mine ? " mine" : ""),
      title: `${who} reacted with :${reaction.name}:`,
      "data-testid": `reaction-${reaction.name}`,
      "aria-pressed": String(mine),
      onclick: () => (mine ? context.unreact(value, reaction.name) : context.react(value, reaction.name)),
    }, h("span", { class: "face" }, emoji(reaction.name)), String(reaction.count));
  }));
}

function replyLink(value, context) {
  const count = value.reply_count;
  const faces = value.reply_users.slice(0, 3).map((id) => avatar(context.people.user(id), true));
  return h("button", { class: "reply-link", "data-testid": "reply-link", onclick: () => context.openThread(value) },
    ...faces, h("b", {}, `${count} ${count === 1 ? "reply" : "replies"}`),
    h("small", {}, `Last reply ${dayName(value.latest_reply, context.view.now).toLowerCase()} at ${clockTime(value.latest_reply)}`));
}

function tools(node, value, context) {
  const quick = QUICK.map((name) => h("button", {
    title: `:${name}:`,
    "data-testid": `quick-${name}`,
    onclick: () => context.react(value, name),
  }, emoji(name)));
  const more = h("button", { title: "Find another reaction", "data-testid": "open-picker", onclick: () => togglePicker(node, value, context) }, "☺");
  const extra = [];
  if (!context.inThread) {
    extra.push(h("button", { class: "word", title: "Reply in thread", "data-testid": "reply-in-thread", onclick: () => context.openThread(value) }, "💬"));
  }
  if (value.user === context.people.me) {
    extra.push(h("button", { class: "word", title: "Edit message", "data-testid": "edit", onclick: () => startEdit(node, value, context) }, "✎"));
    extra.push(h("button", { class: "word", title: "Delete message", "data-testid": "delete", onclick: () => context.remove(value) }, "🗑"));
  }
  return h("div", { class: "tools", "data-testid": "tools" }, ...quick, more, ...extra);
}

function togglePicker(node, value, context) {
  const open = node.querySelector(".picker");
  if (open) {
    open.remove();
    return;
  }
  const picker = h("div", { class: "picker", "data-testid": "picker" }, ...PICKER.map((name) => h("button", {
    title: `:${name}:`,
    "data-testid": `pick-${name}`,
    onclick: () => {
      picker.remove();
      context.react(value, name);
    },
  }, emoji(name))));
  node.append(picker);
  picker.scrollIntoView({ block: "nearest" });
}

function startEdit(node, value, context) {
  const text = node.querySelector("[data-testid=message-text]");
  const area = h("textarea", { value: context.people.asTyped(value.text), "data-testid": "edit-text" });
  const editor = h("div", { class: "editor" }, area, h("div", { class: "row" },
    h("button", { class: "button", onclick: () => editor.replaceWith(text) }, "Cancel"),
    h("button", { class: "button primary", "data-testid": "edit-save", onclick: () => context.edit(value, area.value) }, "Save")));
  text.replaceWith(editor);
  area.focus();
}
