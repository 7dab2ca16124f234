/*
 * Steps through recorded matches. The page holds them in the element "data": JSON, compressed.
 *
 * A moment is what lies between two moves. It has a frame of the table, all cards open, and what
 * was decided there. Moments are numbered through all matches of the page; the address of one is
 * its number: replay.html#17.
 */
"use strict";

(async () => {
  const MANY = 6; // choices that are all listed
  const $ = (id) => document.getElementById(id);

  const data = await unpack($("data").textContent);
  const table = new KilleTable(data.cards);
  table.tag = "span";
  let at = -1;

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(plain).text());
  }

  const moment = () => data.moments[at];
  const match = () => data.matches[moment().match];
  const names = () => match().names;

  /* Going from moment to moment. */

  function go(number) {
    const next = Math.min(Math.max(number, 0), data.moments.length - 1);
    const animate = next === at + 1 && at >= 0 && data.moments[next].match === moment().match;
    at = next;
    table.sit(names(), 0);
    $("match").textContent = match().title;
    $("position").value = at;
    $("deals").value = data.deals.findLastIndex(([first]) => first <= at);
    history.replaceState(null, "", `#${at + 1}`);
    decision();
    log();
    return table.show(moment().frame, {animate});
  }

  function fromAddress() {
    const number = Number(location.hash.slice(1)) - 1;
    const there = Number.isInteger(number) && number >= 0 && number < data.moments.length;
    if (there && number !== at) {
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

  function decision() {
    const {decision: found} = moment();
    $("question").textContent = found ? `${names()[found.seat]} ${names()[found.seat] === "You" ? "decide" : "decides"}.` : "";
    $("decision").hidden = !found;
    if (!found) return;
    const valued = found.choices.some((choice) => choice.worth !== null);
    const plain = match().asked.map((name) => name.replace(/^.*\//, "").replaceAll("_", " "));
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

  function log() {
    const first = data.deals[Number($("deals").value)][0];
    const entries = [];
    for (let number = first; number <= at; number++) {
      for (const line of data.moments[number].frame.lines) {
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

  const keys = {
    ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1),
    Home: () => go(0), End: () => go(data.moments.length - 1),
  };

  $("back").addEventListener("click", keys.ArrowLeft);
  $("forward").addEventListener("click", keys.ArrowRight);
  $("position").max = data.moments.length - 1;
  $("position").addEventListener("input", () => go(Number($("position").value)));
  $("deals").replaceChildren(...data.deals.map(([, name], deal) => new Option(name, deal)));
  $("deals").addEventListener("change", () => go(data.deals[Number($("deals").value)][0]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select, input")) return;
    if (!(event.key in keys)) return;
    keys[event.key]();
    event.preventDefault();
  });
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
  document.body.classList.add("ready");
})();
