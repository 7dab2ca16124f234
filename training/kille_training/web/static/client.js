/*
 * KilleClient speaks with the server about one table: states come as server-sent events, what the
 * person does goes as POST. A lost connection is opened again from the version that was seen last.
 */
"use strict";

class KilleClient extends EventTarget {
  #base;
  #token;
  #version = -1;
  #source = null;
  #failures = 0;

  /**
   * Events: "state" (detail: the state, with the frames that are new), "trouble" (detail: a
   * sentence, "" when it is over).
   */
  constructor(table, token) {
    super();
    this.#base = `/tables/${encodeURIComponent(table)}`;
    this.#token = token;
    window.addEventListener("online", () => this.listen());
    window.addEventListener("pagehide", () => this.#source?.close());
    window.addEventListener("pageshow", (event) => event.persisted && this.listen());
  }

  /** Opens the stream of states. */
  listen() {
    this.#source?.close();
    const source = new EventSource(`${this.#base}/events?since=${this.#version}`);
    this.#source = source;
    source.addEventListener("state", (event) => {
      this.#failures = 0;
      this.#tell("trouble", "");
      this.#receive(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      source.close();
      if (this.#source === source) this.#listenLater();
    });
  }

  /** Asks for something: "act", "undo", "sit" ...; returns the answer, null if it was refused. */
  async ask(what, content = {}) {
    const answer = await this.#post(what, {version: this.#version, ...content});
    if (answer === null) {
      this.#tell("trouble", "The server does not answer. Nothing is lost; try again in a moment.");
      return null;
    }
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      this.#tell("trouble", said.error ?? `The server answers ${answer.status}; reload the page.`);
      if (answer.status === 409) this.listen();
      return null;
    }
    this.#tell("trouble", "");
    if ("frames" in said) this.#receive(said);
    return said;
  }

  async #post(what, content) {
    try {
      return await fetch(`${this.#base}/${what}`, {
        method: "POST",
        headers: {"Content-Type": "application/json", "X-Kille-Token": this.#token},
        body: JSON.stringify(content),
      });
    } catch {
      return null;
    }
  }

  #receive(state) {
    const seen = this.#version;
    if (state.version < seen) return;
    this.#version = state.version;
    const frames = state.frames.filter((frame) => !(frame.version <= seen));
    this.#tell("state", {...state, frames});
  }

  async #listenLater() {
    this.#failures += 1;
    this.#tell("trouble", "The connection is lost. Trying again …");
    const gone = this.#failures > 1 && (await this.#isGone());
    if (gone) {
      this.#tell("trouble", "This table is closed. Go back to the tables and open another one.");
      return;
    }
    const wait = Math.min(5000, 500 * this.#failures);
    const source = this.#source;
    window.setTimeout(() => this.#source === source && this.listen(), wait);
  }

  /** Whether the server is there but knows the table no longer. */
  async #isGone() {
    try {
      const answer = await fetch(`${this.#base}/state?since=${this.#version}`);
      return answer.status === 404;
    } catch {
      return false;
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, {detail}));
  }
}
