// The page: keeps one person's view of the workspace, draws it, and acts for that person.

import { act, fetchView, watch } from "./api.js";
import { composer } from "./composer.js";
import { dayName, h, replace } from "./dom.js";
import { avatar, message } from "./message.js";
import { absentNote, beginning, paceSwitch } from "./notes.js";
import { unescape } from "./mrkdwn.js";

const $ = (id) => document.getElementById(id);
const GROUP_SECONDS = 300;
const state = { viewer: document.body.dataset.you, channel: "", thread: "", view: null, read: new Map(), absent: new Map() };
const drawn = new Map();

// -- what is known

const people = {
  get me() { return state.viewer; },
  user: (id) => state.view.users[id],
  userName: (id) => state.view.users[id]?.real_name,
  channelName: (id) => state.view.channels.find((c) => c.id === id)?.name,
  asTyped: (text) => unescape(text
    .replace(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id) => "@" + (state.view.users[id]?.name ?? id))
    .replace(/<#[A-Z0-9]+\|([^>]*)>/g, "#$1")
    .replace(/<!(here|channel|everyone)>/g, "@$1")
    .replace(/<(https?:[^|>]+)(?:\|[^>]*)?>/g, "$1")),
};

function author(value) {
  const users = state.view.users;
  return users[value.user] ?? Object.values(users).find((u) => u.is_app && u.real_name === value.username);
}

function currentChannel() {
  return state.view.channels.find((c) => c.id === state.channel);
}

// -- acting

async function tell(name, body) {
  try {
    await act(name, { user: state.viewer, ...body });
    return true;
  } catch (error) {
    toast(error.message);
    return false;
  }
}

const setPace = (pace) => act("pace", { pace }).catch((error) => toast(error.message));

let toastTimer = 0;
function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $("toast").hidden = true; }, 4000);
}

const on = (value) => ({ channel: state.channel, ts: value.ts });
const acts = {
  react: (value, name) => {
    const mine = value.reactions?.find((r) => r.name === name)?.users.includes(state.viewer);
    return tell(mine ? "unreact" : "react", { ...on(value), name });
  },
  unreact: (value, name) => tell("unreact", { ...on(value), name }),
  click: (value, actionId) => tell("click", { ...on(value), action_id: actionId }),
  edit: (value, typed) => tell("edit", { ...on(value), typed }),
  remove: (value) => tell("delete", on(value)),
  openThread: (value) => show(state.channel, value.thread_ts ?? value.ts),
};

const channelComposer = composer("channel", (typed) => say(typed, ""));
const threadComposer = composer("thread", (typed) => say(typed, state.thread));

async function say(typed, root) {
  const channel = currentChannel();
  const place = placeOf(channel, root);
  try {
    const where = root ? { thread_ts: root } : {};
    const { message } = await act("post", { user: state.viewer, channel: channel.id, typed, ...where });
    state.absent.set(place, absentIn(channel, message.text));
    draw();
    return true;
  } catch (error) {
    toast(error.message);
    return false;
  }
}

/** The bots that a text mentions and that cannot read it, for they are not in the channel. */
function absentIn(channel, text) {
  if (channel.kind === "im") return [];
  return Object.keys(state.view.connected).filter((id) => text.includes(`<@${id}>`) && !channel.members.includes(id));
}

function placeOf(channel, root) {
  return [state.viewer, channel.id, root].join(" ");
}

// -- going somewhere

function show(channel, thread = "") {
  if (channel !== state.channel) drawn.clear();
  state.channel = channel;
  state.thread = thread;
  history.replaceState(null, "", `#${channel}${thread ? "/" + thread : ""}`);
  $("workspace").classList.remove("menu-open");
  draw();
  scrollDown($("messages"));
  if (thread) scrollDown($("thread-messages"));
}

async function become(viewer) {
  state.viewer = viewer;
  channelComposer.moveTo(`${viewer} ${state.channel}`); // at once: what is typed from here on is theirs
  drawn.clear();
  await refresh();
}

async function openDirect(other) {
  try {
    const answer = await act("direct", { user: state.viewer, other });
    await act("open_home", { user: state.viewer, tab: "messages" });
    state.view = await fetchView(state.viewer);
    show(answer.channel);
  } catch (error) {
    toast(error.message);
  }
}

// -- drawing

function draw() {
  const channel = currentChannel();
  drawSidebar();
  drawChannel(channel);
  drawThread(channel);
  $("clock").textContent = new Date(state.view.now * 1000).toISOString().replace("T", " ").slice(0, 16) + " UTC";
}

function drawSidebar() {
  const rooms = state.view.channels.filter((c) => c.kind !== "im");
  replace($("channels"), rooms.map((c) => keyed(`nav-${c.id}`, navState(c), () => navItem(c))));
  const bots = Object.keys(state.view.connected);
  replace($("apps"), bots.map((id) => {
    const direct = state.view.channels.find((c) => c.with === id);
    const online = state.view.connected[id];
    const seen = direct ? navState(direct) : [];
    return keyed(`app-${id}`, [online, ...seen], () => appItem(id, direct, online));
  }));
  const pace = state.view.pace;
  replace($("pace"), pace === null ? [] : [keyed("pace", [pace], () => paceSwitch(pace, setPace))]);
  replace($("personas"), state.view.people.filter(isOffered).map((id) =>
    keyed(`persona-${id}`, [id === state.viewer], () => persona(state.view.users[id]))));
}

/** One person of each role, and whoever the page acts for. */
function isOffered(id) {
  const role = state.view.users[id].role;
  const first = state.view.people.find((other) => state.view.users[other].role === role);
  return id === first || id === state.viewer;
}

function unread(channel) {
  const last = state.read.get(`${state.viewer} ${channel.id}`) ?? "0";
  return channel.messages.filter((m) => m.ts > last && m.user !== state.viewer).length;
}

function navState(channel) {
  return [channel.id === state.channel, unread(channel)];
}

function navItem(channel) {
  const [active, count] = navState(channel);
  const mark = channel.kind === "group" ? "🔒" : "#";
  return h("li", {}, h("button", {
    class: `nav${active ? " active" : ""}${count && !active ? " unread" : ""}`,
    "data-testid": `channel-${channel.name}`,
    "aria-current": active ? "page" : undefined,
    onclick: () => show(channel.id),
  }, h("span", { class: "mark" }, mark), h("span", { class: "label" }, channel.name),
  channel.shared ? h("span", { class: "shared-mark", title: "Shared with another company" }, "shared") : null,
  count && !active ? h("span", { class: "badge", "data-testid": `unread-${channel.name}` }, String(count)) : null));
}

function appItem(id, direct, online) {
  const user = state.view.users[id];
  const [active, count] = direct ? navState(direct) : [false, 0];
  return h("li", {}, h("button", {
    class: `nav${active ? " active" : ""}${count && !active ? " unread" : ""}`,
    "data-testid": `app-${user.name}`,
    title: online ? "connected" : "not connected: start the bot",
    onclick: () => (direct ? show(direct.id) : openDirect(id)),
  }, h("span", { class: "mark" }, h("i", { class: `presence${online ? " on" : ""}`, "data-testid": "presence" })),
  h("span", { class: "label" }, user.real_name),
  count && !active ? h("span", { class: "badge" }, String(count)) : null));
}

const ROLES = { member: "Member", admin: "Admin", guest: "Guest", single_channel_guest: "Guest" };

function persona(user) {
  const role = user.role === "outsider" ? `Outsider, ${user.team}` : `${ROLES[user.role]}${user.title ? ` · ${user.title}` : ""}`;
  return h("button", {
    class: "persona",
    "data-testid": `persona-${user.name}`,
    "aria-pressed": String(user.id === state.viewer),
    onclick: () => become(user.id),
  }, avatar(user, true), h("span", { class: "who" }, h("b", {}, user.real_name), h("small", {}, role)));
}

function drawChannel(channel) {
  const direct = channel.kind === "im";
  $("channel-name").textContent = direct ? channel.name : `${channel.kind === "group" ? "🔒 " : "# "}${channel.name}`;
  $("channel-topic").textContent = channel.topic;
  $("channel-members").textContent = `${channel.shared ? "shared · " : ""}${channel.members.length} members`;
  $("channel-members").classList.toggle("shared", channel.shared);
  const top = channel.messages.filter((m) => !m.thread_ts || m.thread_ts === m.ts);
  const nodes = top.length ? listed(top, "channel", false) : [keyed("beginning", [channel.id], () => beginning(channel, state.view.users))];
  keepDown($("messages"), () => replace($("messages"), nodes));
  channelComposer.moveTo(`${state.viewer} ${channel.id}`);
  channelComposer.placeholder(direct ? `Message ${channel.name}` : `Message #${channel.name}`);
  channelComposer.suggest(suggestion(channel, top));
  const closed = keyed("closed", [], () => h("div", { class: "closed" }, "This channel is archived."));
  replace($("channel-below"), channel.archived ? [closed] : [...absent(channel, ""), ...channelComposer.nodes, statusLine(channel, "")]);
  state.read.set(`${state.viewer} ${channel.id}`, channel.messages.at(-1)?.ts ?? "0");
}

/** The question to try, until this person has asked something in the channel. */
function suggestion(channel, top) {
  const bots = botsIn(channel);
  if (channel.kind === "im") return bots.length && !top.length ? state.view.question.replace(/^@\S+ /, "") : "";
  const asked = top.some((m) => bots.some((bot) => m.text.includes(`<@${bot}>`)));
  return bots.length && !asked && channel.name.startsWith("inc-") ? state.view.question : "";
}

function botsIn(channel) {
  return channel.members.filter((id) => id in state.view.connected);
}

/** What Slack tells an author alone, above the box that the words were written in. */
function absent(channel, root) {
  const place = placeOf(channel, root);
  const bots = (state.absent.get(place) ?? []).filter((id) => !channel.members.includes(id));
  const done = () => { state.absent.delete(place); draw(); };
  const guest = state.view.users[state.viewer].role.endsWith("guest");
  return bots.map((id) => keyed(`absent-${place}-${id}`, [guest], () => absentNote(state.view.users[id].name, {
    invite: guest ? null : () => tell("invite", { user: id, channel: channel.id, inviter: state.viewer }),
    leave: done,
  })));
}

function drawThread(channel) {
  const root = channel.messages.find((m) => m.ts === state.thread);
  $("thread").hidden = !root;
  $("workspace").classList.toggle("in-thread", Boolean(root));
  if (!root) {
    if (state.thread) state.thread = "";
    return;
  }
  $("thread-channel").textContent = channel.kind === "im" ? channel.name : `# ${channel.name}`;
  const replies = channel.messages.filter((m) => m.thread_ts === root.ts && m.ts !== root.ts);
  const rule = replies.length
    ? [keyed("rule", [replies.length], () => h("div", { class: "thread-rule" }, `${replies.length} ${replies.length === 1 ? "reply" : "replies"}`))]
    : [];
  const nodes = [...listed([root], "root", true), ...rule, ...listed(replies, "thread", true)];
  keepDown($("thread-messages"), () => replace($("thread-messages"), nodes));
  threadComposer.moveTo(`${state.viewer} ${channel.id} ${root.ts}`);
  const [bot] = botsIn(channel);
  threadComposer.placeholder(bot && channel.kind !== "im" ? `Reply, or ask again with @${state.view.users[bot].name}…` : "Reply…");
  replace($("thread-below"), channel.archived ? [] : [...absent(channel, root.ts), ...threadComposer.nodes, statusLine(channel, root.ts)]);
}

/** Messages with day dividers (in channels), grouped by author as Slack does. */
function listed(messages, place, inThread) {
  const nodes = [];
  let before = null;
  for (const value of messages) {
    const day = dayName(value.ts, state.view.now);
    const newDay = !before || dayName(before.ts, state.view.now) !== day;
    if (newDay && !inThread) nodes.push(keyed(`day-${place}-${day}`, [], () => h("div", { class: "day" }, h("span", {}, day))));
    const compact = before !== null && !newDay && before.user === value.user && before.user !== undefined
      && !before.reply_count && Number(value.ts) - Number(before.ts) < GROUP_SECONDS && !value.subtype && !before.subtype;
    const context = { view: state.view, people, author, inThread, compact, ...acts };
    nodes.push(keyed(`${place}-${value.ts}`, [value, compact, state.viewer, day], () => message(value, context)));
    before = value;
  }
  return nodes;
}

/** What the bot says it is doing: in its thread, and in the channel while its thread is not open. */
function statusLine(channel, root) {
  const found = state.view.statuses.filter((s) => s.channel === channel.id && (root ? s.thread_ts === root : s.thread_ts !== state.thread));
  const stoppable = root && state.view.sessions.some((s) => s.channel === channel.id && s.thread_ts === root);
  return keyed(`status-${root ? "thread" : "channel"}`, [found, stoppable, channel.id, root], () => {
    const node = h("div", { class: "status", "data-testid": root ? "thread-status" : "status" });
    for (const status of found) {
      node.append(h("span", { class: "pulse" }, h("i"), h("i"), h("i")), h("b", {}, people.userName(status.user)), status.text);
    }
    if (stoppable) {
      node.append(h("button", { class: "stop", "data-testid": "stop-session", onclick: () => tell("stop_session", { channel: channel.id, thread_ts: root }) }, "◼ Stop"));
    }
    return node;
  });
}

/** The same node as before when nothing that it shows has changed. */
function keyed(key, parts, make) {
  const print = JSON.stringify(parts);
  const known = drawn.get(key);
  if (known?.print === print) return known.node;
  const node = make();
  drawn.set(key, { print, node });
  return node;
}

function keepDown(list, change) {
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  change();
  if (atEnd) scrollDown(list);
}

function scrollDown(list) {
  list.scrollTop = list.scrollHeight;
}

// -- living

let running = false;
let again = false;

/** Fetch and draw; calls while one is under way are merged into one more. */
async function refresh() {
  if (running) {
    again = true;
    return;
  }
  running = true;
  try {
    do {
      again = false;
      state.view = await fetchView(state.viewer);
      if (!currentChannel()) state.channel = firstChannel();
      draw();
    } while (again);
  } catch (error) {
    toast(error.message);
  } finally {
    running = false;
  }
}

function firstChannel() {
  const incident = state.view.channels.find((c) => c.name.startsWith("inc-"));
  return (incident ?? state.view.channels[0]).id;
}

async function start() {
  const [channel, thread] = location.hash.slice(1).split("/");
  state.channel = channel;
  state.thread = thread ?? "";
  $("thread-close").addEventListener("click", () => show(state.channel));
  $("menu").addEventListener("click", () => $("workspace").classList.toggle("menu-open"));
  await refresh();
  for (const id of state.view.people) {
    for (const c of state.view.channels) state.read.set(`${id} ${c.id}`, c.messages.at(-1)?.ts ?? "0");
  }
  show(state.channel, state.thread);
  watch(refresh);
  setInterval(refresh, 15000);
}

start();
