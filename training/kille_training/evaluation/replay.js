/*
 * Steps through recorded matches. The page holds them in the element "data": JSON, compressed.
 *
 * A moment is what lies between two moves. It has a frame for every seat and one with all cards
 * open, and what was decided there. Moments are numbered through all matches
 * of the page; the address of one is its number: replay.html#17.
 */
"use strict";

(async () => {
  const OPEN = -1; // the view with all cards open
  const REST = 900; // milliseconds between two moments at speed 1
  const MANY = 6; // choices that are all listed
  const $ = (id) => document.getElementById(id);

  const data = await unpack($("data").textContent);
  const table = new KilleTable(data.cards);
  table.tag = "span";
  let [at, view, playing, speed] = [-1, OPEN, 0, 1];

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(plain).text());
  }

  const moment = () => data.moments[at];
  const match = () => data.matches[moment().match];
  const names = () => match().names;

  /* Pictures. */

  function seen(number, from = view) {
    const views = data.moments[number].views;
    return views[from === OPEN ? views.length - 1 : from];
  }

  /** Whether a viewer notices that a moment differs from the one before. */
  function noticed(number) {
    if (view === OPEN || number === 0) return true;
    if (data.moments[number].match !== data.moments[number - 1].match) return true;
    const [before, after] = [seen(number - 1), seen(number)];
    return after.lines.length > 0 || JSON.stringify(before.seats) !== JSON.stringify(after.seats);
  }

  /** The nearest moment that the viewer notices, from a number on in a direction; or null. */
  function nearest(number, step) {
    while (number >= 0 && number < data.moments.length && !noticed(number)) number += step;
    return number >= 0 && number < data.moments.length ? number : null;
  }

  /* Going from moment to moment. */

  function go(number, animate = false) {
    const changed = at < 0 || data.moments[number].match !== moment().match;
    at = number;
    if (changed) listViews();
    table.sit(names(), view === OPEN ? 0 : view);
    $("position").value = at;
    $("deals").value = data.deals.findLastIndex(([first]) => first <= at);
    history.replaceState(null, "", `#${at + 1}`);
    describe();
    return table.show(seen(at), {animate});
  }

  function step(by) {
    pause();
    const next = nearest(at + by, by);
    if (next !== null) go(next, by > 0 && data.moments[next].match === moment().match);
  }

  function jump(by) {
    pause();
    const deal = Number($("deals").value);
    const back = by < 0 && data.deals[deal][0] < at ? deal : deal + by;
    const target = Math.min(Math.max(back, 0), data.deals.length - 1);
    go(nearest(data.deals[target][0], 1) ?? at);
  }

  async function play() {
    const mine = ++playing;
    label();
    while (mine === playing) {
      const next = nearest(at + 1, 1);
      if (next === null) break;
      const fresh = data.moments[next].match !== moment().match;
      await go(next, !fresh);
      await new Promise((resolve) => setTimeout(resolve, REST / speed));
    }
    if (mine === playing) pause();
  }

  function pause() {
    playing = 0;
    label();
  }

  function label() {
    $("play").textContent = playing ? "Pause" : "Play";
  }

  function look(from) {
    view = from;
    $("views").value = view;
    go(nearest(at, -1) ?? 0);
  }

  function fromAddress() {
    const number = Number(location.hash.slice(1)) - 1;
    const there = Number.isInteger(number) && number >= 0 && number < data.moments.length;
    pause();
    if (there && number !== at) {
      if (!noticed(number)) view = OPEN;
      go(number);
      $("felt").scrollIntoView({block: "nearest"});
    } else if (at < 0) go(0);
  }

  /* What is said of a moment. */


  function row(...cells) {
    const line = document.createElement("tr");
    line.append(...cells);
    return line;
  }

  function exactly(units) {
    return Math.abs(units) < 0.0005 ? "0" : `${units > 0 ? "+" : "−"}${Math.abs(units).toFixed(3)}`;
  }

  function listViews() {
    const options = [["All cards open", OPEN], ...names().map((name, seat) => [name, seat])];
    if (view >= names().length) view = OPEN;
    $("views").replaceChildren(...options.map(([name, seat]) => new Option(name, seat)));
    $("views").value = view;
    $("match").textContent = match().title;
  }

  function describe() {
    const {decision: asked} = moment();
    $("question").textContent = asked ? `${names()[asked.seat]} ${names()[asked.seat] === "You" ? "decide" : "decides"}.` : "";
    decision();
    expected();
    known();
    log();
  }

  function decision() {
    const {decision: found} = moment();
    const open = found && (view === OPEN || view === found.seat);
    $("decision").hidden = !found;
    $("covered").hidden = !found || open;
    $("judged").hidden = !open;
    if (!open) return;
    const asked = match().asked;
    const valued = found.choices.some((choice) => choice.worth !== null);
    const plain = asked.map((name) => name.replace(/^.*\//, "").replaceAll("_", " "));
    const heads = ["Choice", ...plain, ...(valued ? ["Worth"] : [])];
    $("choices").tHead.replaceChildren(row(...heads.map((text) => head(text, "col"))));
    const rows = found.choices.flatMap((choice, i) => {
      const chosen = i === found.chosen;
      return chosen || worthSaying(choice, found.choices) ? [option(choice, chosen, valued)] : [];
    });
    const left = found.choices.length - rows.length;
    if (left) rows.push(row(head(left === 1 ? "one other" : `${left} others`, "row")));
    $("choices").tBodies[0].replaceChildren(...rows);
    $("loss").hidden = found.loss === null || found.loss === undefined;
    $("loss").textContent = found.loss ? `This choice costs ${found.loss.toFixed(3)} units.` : "This choice costs nothing.";
    $("loss").classList.toggle("costs", Boolean(found.loss));
  }

  /** Whether a choice stands in the list where there are many: if anybody would take it. */
  function worthSaying(choice, all) {
    return all.length <= MANY || choice.worth !== null || choice.shares.some((share) => share >= 0.005);
  }

  /** A heading; long names may break behind a stroke. */
  function head(text, scope) {
    const cell = make("th");
    for (const part of text.split(/(?<=[_/])/)) cell.append(part, document.createElement("wbr"));
    cell.scope = scope;
    return cell;
  }

  function option({text, shares, worth}, chosen, valued) {
    const name = head("", "row");
    name.append(make("b", "", text), ...(chosen ? [make("span", "tag", "chosen")] : []));
    const cells = shares.map((share) => {
      const cell = document.createElement("td");
      const bar = make("span", "share");
      bar.append(make("i"));
      bar.firstChild.style.width = `${100 * share}%`;
      cell.append(bar, `${Math.round(100 * share)}%`);
      return cell;
    });
    if (valued) cells.push(make("td", "number", worth === null ? "" : exactly(worth)));
    const line = row(name, ...cells);
    line.classList.toggle("chosen", chosen);
    return line;
  }

  function expected() {
    const hopes = view === OPEN ? moment().expected : null;
    $("expected").hidden = !hopes;
    if (!hopes) return;
    const most = match().most;
    $("hopes").replaceChildren(...hopes.map((units, seat) => {
      const cell = document.createElement("td");
      const bar = make("span", "hope");
      const part = make("i", units < 0 ? "loses" : "wins", "");
      const share = (50 * Math.min(Math.abs(units), most)) / most;
      part.style.left = `${units < 0 ? 50 - share : 50}%`;
      part.style.width = `${share}%`;
      bar.append(part);
      cell.append(bar);
      return row(head(names()[seat], "row"), cell, make("td", "number", exactly(units)));
    }));
  }

  function known() {
    const cards = view === OPEN ? moment().known : null;
    $("known").hidden = !cards;
    if (!cards) return;
    $("holders").replaceChildren(...cards.map(([seat, held]) => {
      const texts = held.map(([card, others]) => (others.length ? `${card} (seen by ${who(others)})` : card));
      return row(head(names()[seat], "row"), make("td", "wrap", texts.join(", ")));
    }));
  }

  function who(seats) {
    if (seats.length === names().length - 1) return "everybody";
    return seats.map((seat) => names()[seat]).join(", ");
  }

  function log() {
    const first = data.deals[Number($("deals").value)][0];
    const entries = [];
    for (let number = first; number <= at; number++) {
      if (!noticed(number)) continue;
      for (const line of seen(number).lines) {
        const link = make("a", "", line.trim());
        link.href = `#${number + 1}`;
        if (number === at) link.setAttribute("aria-current", "step");
        const entry = make("li", line.startsWith(" ") ? "part" : "", "");
        entry.append(link);
        entries.push(entry);
      }
    }
    $("log").replaceChildren(...entries);
    $("log").scrollTop = $("log").scrollHeight;
  }

  /* The page. */

  const actions = {
    first: () => (pause(), go(nearest(0, 1))),
    earlier: () => jump(-1),
    back: () => step(-1),
    play: () => (playing ? pause() : play()),
    forward: () => step(1),
    later: () => jump(1),
    last: () => (pause(), go(nearest(data.moments.length - 1, -1))),
  };
  const keys = {
    ArrowLeft: "back", ArrowRight: "forward", PageUp: "earlier", PageDown: "later",
    Home: "first", End: "last", " ": "play",
  };

  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  $("position").max = data.moments.length - 1;
  $("position").addEventListener("input", () => {
    pause();
    go(nearest(Number($("position").value), -1) ?? 0);
  });
  $("deals").replaceChildren(...data.deals.map(([, name], deal) => new Option(name, deal)));
  $("deals").addEventListener("change", () => {
    pause();
    go(nearest(data.deals[Number($("deals").value)][0], 1) ?? at);
  });
  $("views").addEventListener("change", () => look(Number($("views").value)));
  $("speed").addEventListener("change", () => (speed = Number($("speed").value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select, input, summary")) return;
    if (event.key === " " && event.target.closest("button, a")) return;
    if (event.key === "v") look(view + 1 < names().length ? view + 1 : OPEN);
    else if (event.key in keys) actions[keys[event.key]]();
    else return;
    event.preventDefault();
  });
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
  document.body.classList.add("ready");
})();
