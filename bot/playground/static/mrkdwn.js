// Slack's mrkdwn to DOM nodes: *bold*, _italic_, ~strike~, `code`, fences, quotes, <links>, mentions.

import { h, link } from "./dom.js";
import { emoji, isEmoji } from "./emoji.js";

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

export function unescape(text) {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity]);
}

/** All nodes of a mrkdwn text. `people` answers `userName(id)`, `channelName(id)` and `me`. */
export function mrkdwn(text, people) {
  const nodes = [];
  text.split(/```\n?([\s\S]*?)\n?```\n?/).forEach((part, i) => {
    if (i % 2) nodes.push(h("pre", {}, unescape(part)));
    else if (part) nodes.push(...quotes(part, people));
  });
  return nodes;
}

function quotes(text, people) {
  const nodes = [];
  let quoted = [];
  let plain = [];
  const flushPlain = () => {
    if (plain.length) nodes.push(...inline(plain.join("\n"), people));
    plain = [];
  };
  const flushQuoted = () => {
    if (quoted.length) nodes.push(h("blockquote", {}, ...inline(quoted.join("\n"), people)));
    quoted = [];
  };
  for (const line of text.split("\n")) {
    const quote = /^(?:&gt;|>) ?(.*)$/.exec(line);
    if (quote) {
      flushPlain();
      quoted.push(quote[1]);
    } else {
      flushQuoted();
      plain.push(line);
    }
  }
  flushPlain();
  flushQuoted();
  return nodes;
}

const INLINE = new RegExp(
  [
    "`([^`\\n]+)`", // 1 code
    "<([^<>\\n]+)>", // 2 link, mention
    ":([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):", // 3 emoji
    "(?<![\\p{L}\\p{N}*])\\*(?=\\S)([^*\\n]*[^*\\s])\\*(?![\\p{L}\\p{N}*])", // 4 bold
    "(?<![\\p{L}\\p{N}_])_(?=\\S)([^_\\n]*[^_\\s])_(?![\\p{L}\\p{N}_])", // 5 italic
    "(?<![\\p{L}\\p{N}~])~(?=\\S)([^~\\n]*[^~\\s])~(?![\\p{L}\\p{N}~])", // 6 strike
  ].join("|"),
  "gu",
);

export function inline(text, people) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > at) nodes.push(unescape(text.slice(at, found.index)));
    const [whole, code, angle, name, bold, italic, strike] = found;
    if (code !== undefined) nodes.push(h("code", {}, unescape(code)));
    else if (angle !== undefined) nodes.push(angled(angle, people));
    else if (name !== undefined) nodes.push(isEmoji(name) ? emoji(name) : whole);
    else if (bold !== undefined) nodes.push(h("b", {}, ...inline(bold, people)));
    else if (italic !== undefined) nodes.push(h("i", {}, ...inline(italic, people)));
    else nodes.push(h("s", {}, ...inline(strike, people)));
    at = found.index + whole.length;
  }
  if (at < text.length) nodes.push(unescape(text.slice(at)));
  return nodes;
}

/** What stands between `<` and `>`: a mention, a channel, a broadcast, a link. */
export function angled(content, people) {
  const bar = content.indexOf("|");
  const target = bar < 0 ? content : content.slice(0, bar);
  const label = bar < 0 ? "" : unescape(content.slice(bar + 1));
  if (target.startsWith("@")) return userPill(target.slice(1), people, label);
  if (target.startsWith("#")) return h("span", { class: "pill" }, "#" + (people.channelName(target.slice(1)) || label || target.slice(1)));
  if (target.startsWith("!")) return broadcast(target.slice(1), label);
  const url = unescape(target);
  return link(url, label || url);
}

export function userPill(id, people, label = "") {
  const mine = id === people.me ? " me" : "";
  return h("span", { class: "pill" + mine, "data-user": id }, "@" + (people.userName(id) || label || id));
}

function broadcast(word, label) {
  if (word.startsWith("date^")) return h("span", {}, label);
  const name = word.startsWith("subteam^") ? label || "usergroup" : word;
  return h("span", { class: "pill broadcast" }, "@" + name.replace(/^@/, ""));
}
