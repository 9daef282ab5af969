/**
 * The events of the company, as the API sends them while they happen.
 *
 * Only a page that is shown has a stream: browsers open few connections to a server over HTTP/1.1. A page that is shown again
 * continues after its last event. While there is no stream, queries that change by themselves are repeated instead.
 */

import { fieldOf } from "./failure.ts";

/** An event, or `reset`: any number of events were missed. */
export interface LiveEvent {
  readonly type: string;
  /** What the event is about; see `GET /company/{id}/events`. */
  readonly data: unknown;
}

/** Those that this console listens to. */
const types = [
  ...["reset", "activity.recorded", "vulnerability.found"],
  ...["operation.started", "operation.progress", "operation.succeeded", "operation.failed"],
  ...["site.created", "site.deleted", "environment.created", "environment.changed", "environment.deleted"],
  ...["domain.added", "domain.verified", "domain.changed", "domain.deleted"],
  ...["backup.created", "backup.verified", "backup.damaged", "backup.deleted"],
];

/** Between two attempts after the API has refused a stream. Browsers repeat lost ones by themselves. */
const firstPause = 2_000;
const longestPause = 30_000;

let isOpen = false;

/** Whether the queries can rely on events. */
export const isLive = (): boolean => isOpen;

interface Receiver {
  readonly onEvent: (event: LiveEvent) => void;
  /** From now on, `isLive` is false. */
  readonly onLost: () => void;
}

/** Follows the events until the returned function is called. */
export function followEvents(company: string, { onEvent, onLost }: Receiver): () => void {
  let source: EventSource | null = null;
  let lastId = "";
  let timer: number | undefined;
  let pause = firstPause;
  let isLost = false;

  function close(): void {
    window.clearTimeout(timer);
    source?.close();
  }

  function open(): void {
    close();
    // Meanwhile nothing is repeated, either.
    if (document.visibilityState === "hidden") return;
    const query = lastId === "" ? "" : `?last_event_id=${encodeURIComponent(lastId)}`;
    const opened = new EventSource(`/v2/company/${company}/events${query}`);
    source = opened;
    opened.addEventListener("open", () => {
      isOpen = true;
      isLost = false;
      pause = firstPause;
      // What was read before may be older than the first event.
      if (lastId === "") onEvent({ type: "reset", data: null });
    });
    opened.addEventListener("error", () => lose(opened));
    for (const type of types) opened.addEventListener(type, take);
  }

  function lose({ readyState }: EventSource): void {
    isOpen = false;
    if (!isLost) onLost();
    isLost = true;
    if (readyState !== EventSource.CLOSED) return;
    timer = window.setTimeout(open, pause);
    pause = Math.min(2 * pause, longestPause);
  }

  function take({ type, data, lastEventId }: MessageEvent<string>): void {
    lastId = lastEventId;
    const body: unknown = JSON.parse(data);
    onEvent({ type, data: fieldOf(body, "data") });
  }

  document.addEventListener("visibilitychange", open);
  open();
  return () => {
    document.removeEventListener("visibilitychange", open);
    close();
    isOpen = false;
  };
}
