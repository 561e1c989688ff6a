// The calls of a list: its newest page, older ones as they are wanted, and new ones as they come.

import { get } from "../api.js";

const PAGE = 500;
const NEWEST = 100;

export class CallFeed {
  constructor(parameters) {
    Object.assign(this, { parameters, calls: [], known: new Set(), last: null, hasMore: false, loaded: false, error: null });
    this.listeners = new Set();
    this.busy = null;
  }

  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Takes what is new; one request at a time, and one more where it was asked for meanwhile. */
  refresh() {
    return this.inOrder(() => (this.loaded ? this.newest() : this.first()));
  }

  /** Takes the next older page. */
  older() {
    if (!this.hasMore || this.wantsOlder) return undefined;
    this.wantsOlder = true;
    return this.inOrder(async () => {
      const page = await this.page({ limit: PAGE, after: this.last });
      this.wantsOlder = false;
      this.append(page);
    });
  }

  inOrder(work) {
    const run = async () => {
      try {
        await work();
        this.error = null;
      } catch (error) {
        this.error = error;
        this.wantsOlder = false;
      }
      for (const listener of this.listeners) listener();
    };
    this.busy = (this.busy ?? Promise.resolve()).then(run);
    return this.busy;
  }

  async first() {
    const page = await this.page({ limit: PAGE });
    this.calls = [];
    this.known = new Set();
    this.append(page);
    this.loaded = true;
  }

  async newest() {
    const page = await this.page({ limit: NEWEST });
    const fresh = page.data.filter((call) => !this.known.has(keyOf(call)));
    // More than a page is new: the list begins again.
    if (fresh.length === page.data.length && page.has_more) return this.first();
    if (fresh.length === 0) return undefined;
    fresh.forEach((call) => this.known.add(keyOf(call)));
    this.calls = [...fresh, ...this.calls];
    return undefined;
  }

  append({ data, last_id: last, has_more: hasMore }) {
    const fresh = data.filter((call) => !this.known.has(keyOf(call)));
    fresh.forEach((call) => this.known.add(keyOf(call)));
    this.calls = [...this.calls, ...fresh];
    this.last = last;
    this.hasMore = hasMore;
  }

  page(paging) {
    return get("v1/calls", { ...this.parameters, ...paging });
  }
}

export function keyOf(call) {
  return `${call.turn} ${call.call ?? call.tool ?? ""}`;
}
