/**
 * Counts the requests to each environment by the minute. Control stores each minute once, when it is over, by the edge's start
 * and the minute.
 */
import { randomUUID } from "node:crypto";
import type { VisitorRequest, VisitorResponse, VisitorSocket } from "../http/visitorHttp.ts";
import { createBotCheck } from "./bots.ts";
import { createTally, type Tally } from "./counts.ts";
import { type AnalyticsReport, type CountedMinute, openEndedMinutes, type StoredMinutes } from "./minutes.ts";
import { openVisitors, type VisitedSite, type Visitors } from "./visitors.ts";

interface Finished {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  /** Of the connection that the request came from. */
  readonly socket: VisitorSocket;
  readonly address: string;
  readonly status: number;
  readonly milliseconds: number;
  /** Sent, heads included. */
  readonly bytes: number;
}

/** PHP's work for an environment since the edge started. */
interface PhpWork {
  readonly environmentId: string;
  readonly phpMilliseconds: number;
  readonly cpuMilliseconds: number;
}

export interface Analytics {
  /** Counts a response that has ended. */
  note(site: VisitedSite, finished: Finished): void;
  /** Bytes sent to visitors since the edge started, by environment. */
  bytesSent(): ReadonlyMap<string, number>;
  /** See `EndedMinutes`. */
  report(stored: StoredMinutes | null): AnalyticsReport;
  /** Stops, and writes what was counted to the file. */
  close(): Promise<void>;
}

export interface AnalyticsOptions {
  /** For counts that control has not stored yet, and for the day's visitors. Null: they are lost with the process. */
  readonly folder: string | null;
  /** Milliseconds since 1970. Absent: the system clock. */
  readonly now?: () => number;
}

interface AnalyticsParts extends AnalyticsOptions {
  readonly phpWork: () => readonly PhpWork[];
  readonly onFailure: (error: unknown) => void;
}

const minuteMilliseconds = 60_000;
/** How much is lost if the edge is killed. */
const saveMilliseconds = 10_000;

interface Minute {
  readonly begins: number;
  readonly tallies: Map<string, Tally>;
}

export async function openAnalytics({
  folder,
  now = Date.now,
  phpWork,
  onFailure,
}: AnalyticsParts): Promise<Analytics> {
  const run = randomUUID();
  const ended = await openEndedMinutes(run, folder, onFailure);
  const visitors = visitorsIn(folder, now(), onFailure);
  const visitOf = createVisitCheck(visitors, now);
  const sent = new Map<string, number>();
  const worked = new Map<string, PhpWork>();
  let present = minuteAt(now());

  function minuteNow(): Minute {
    const minute = minuteAt(now());
    // The clock may have been set back.
    if (minute.begins <= present.begins) return present;
    ended.add(countsOf(present, run));
    present = minute;
    return present;
  }

  function addPhp(): void {
    for (const work of phpWork()) {
      const before = worked.get(work.environmentId);
      const milliseconds = work.phpMilliseconds - (before?.phpMilliseconds ?? 0);
      const cpuMilliseconds = work.cpuMilliseconds - (before?.cpuMilliseconds ?? 0);
      worked.set(work.environmentId, work);
      if (milliseconds > 0 || cpuMilliseconds > 0)
        tallyIn(present, work.environmentId).addPhp(milliseconds, cpuMilliseconds);
    }
    minuteNow();
  }

  function saveVisitors(): void {
    try {
      visitors.save(now());
    } catch (error) {
      onFailure(error);
    }
  }

  async function save(): Promise<void> {
    addPhp();
    saveVisitors();
    await ended.save(countsOf(present, run)).catch(onFailure);
  }

  let saving = Promise.resolve();
  const saveNext = () => {
    saving = saving.then(save);
    return saving;
  };
  const timer = setInterval(saveNext, saveMilliseconds).unref();

  return {
    note(site, finished) {
      const { environmentId } = site;
      const { response, status, milliseconds, bytes } = finished;
      const visit = visitOf(site, finished);
      tallyIn(minuteNow(), environmentId).add({ status, source: response.source, milliseconds, bytes, ...visit });
      sent.set(environmentId, (sent.get(environmentId) ?? 0) + bytes);
    },
    bytesSent: () => sent,
    report(stored) {
      addPhp();
      // Before control knows of them: otherwise a restarted edge would count them again.
      saveVisitors();
      return ended.report(stored);
    },
    async close() {
      clearInterval(timer);
      await saveNext();
    },
  };
}

const minuteAt = (now: number): Minute => ({ begins: now - (now % minuteMilliseconds), tallies: new Map() });

function tallyIn({ tallies }: Minute, environmentId: string): Tally {
  const known = tallies.get(environmentId);
  if (known !== undefined) return known;
  const tally = createTally();
  tallies.set(environmentId, tally);
  return tally;
}

function countsOf({ begins, tallies }: Minute, run: string): CountedMinute {
  return { run, begins, environments: Object.fromEntries([...tallies].map(([id, tally]) => [id, tally.counts()])) };
}

function visitorsIn(folder: string | null, now: number, onFailure: (error: unknown) => void): Visitors {
  try {
    return openVisitors(folder, now);
  } catch (error) {
    onFailure(error);
    return openVisitors(null, now);
  }
}

interface SeenVisit {
  readonly environmentId: string;
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly day: number;
}

const dayMilliseconds = 24 * 60 * minuteMilliseconds;

/** Returns a function that tells whether a response is a bot's, or a visitor's first page of the day. */
function createVisitCheck(visitors: Visitors, now: () => number) {
  const isBot = createBotCheck();
  // Most requests of a connection are one visitor's, and computing the hash takes longer than everything else here.
  const lastVisits = new WeakMap<VisitorSocket, SeenVisit>();
  const isRepeated = (socket: VisitorSocket, { environmentId, address, userAgent, day }: SeenVisit) => {
    const last = lastVisits.get(socket);
    return (
      last !== undefined &&
      last.environmentId === environmentId &&
      last.address === address &&
      last.userAgent === userAgent &&
      last.day === day
    );
  };
  return (site: VisitedSite, { request, response, socket, address, status }: Finished) => {
    const userAgent = request.headers["user-agent"];
    if (userAgent === undefined || isBot(userAgent)) return { isBot: true, isVisit: false };
    const isPage = request.method === "GET" && response.source !== undefined && status < 400;
    if (!isPage) return { isBot: false, isVisit: false };
    const time = now();
    const visit = { environmentId: site.environmentId, address, userAgent, day: Math.floor(time / dayMilliseconds) };
    if (isRepeated(socket, visit)) return { isBot: false, isVisit: false };
    lastVisits.set(socket, visit);
    return { isBot: false, isVisit: visitors.isFirst(site, address, userAgent, time) };
  };
}
