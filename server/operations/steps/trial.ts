/**
 * Whether an environment would answer as it is about to be served: another release, another version of PHP. The edge
 * tries it out beside the one that visitors see.
 */
import type { EnvironmentLayout, EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { EdgeClient, Trial } from "../../clients/edgeClient.ts";
import { StepFailure } from "../engine/operation.ts";

/** What would be served, at which address. */
export interface Candidate {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  readonly layout: EnvironmentLayout;
  /** `http://demo.localhost:8081`. */
  readonly address: string;
  /** How a sentence names it: `The site on PHP 8.4`. */
  readonly what: string;
  /** Whether PHP may change nothing, because visitors use it already, or a part of it. */
  readonly isReadOnly: boolean;
  /** Whether PHP reaches nothing outside of the environment. Absent: false. */
  readonly isOffline?: boolean;
  /** What is asked for. Absent: the front page. */
  readonly page?: TrialPage;
  /** What visitors see of the same site now: no page may be worse than it is there. Absent: pages are what they are. */
  readonly present?: EnvironmentLayout;
}

/** A page, and which answers are right. */
export interface TrialPage {
  readonly url: string;
  /** How a sentence names it: `front page`. */
  readonly name: string;
  /** Whether what it leads to on the same site is meant. Absent: false. */
  readonly isFollowed?: boolean;
  /**
   * How it is compared with what it is at present. Where nobody can tell, because PHP would have to change something, a `page` is
   * taken to have been there and to have had an end, a `document` to have had an end. Absent: it is not compared.
   */
  readonly comparison?: "page" | "document" | "any";
  /** What is wrong with an answer, as a part of a sentence; null if nothing is. `hasError`: PHP's log has one. */
  fault(answer: Pick<Trial, "status" | "isWhole" | "location">, hasError: boolean): string | null;
}

/**
 * Resolves with false if nothing is known yet, because PHP wanted to change what it may not. Rejects with `TrialFailed`,
 * whose message has PHP's own error, where the page does not come.
 */
export type TryOut = (candidate: Candidate, signal: AbortSignal) => Promise<boolean>;

/** Why there is no answer that says nothing of what was asked. */
const passingReasons: readonly (string | null)[] = ["busy", "unavailable"];

/** The page did not come as it should. */
export class TrialFailed extends StepFailure {
  /** Why there was no answer at all, as `Trial` has it; null if there was one. */
  readonly reason: string | null;
  constructor(publicMessage: string, reason: string | null) {
    super(publicMessage, { isTransient: reason === "busy", kind: passingReasons.includes(reason) ? null : "refused" });
    this.reason = reason;
  }
}

/** Whatever a site says there, a page in another form included, as long as it is no error. */
export const frontPage: TrialPage = {
  url: "/",
  name: "front page",
  fault: ({ status, isWhole }, hasError) => {
    if (status >= 500) return `has the status ${status}`;
    return !isWhole && hasError ? "breaks off" : null;
  },
};

/** The same, of what comes back as it was: it may have been closed for maintenance, which a site says with 503. */
export const frontPageOrClosed: TrialPage = {
  ...frontPage,
  fault: (answer, hasError) => (answer.status === 503 && !hasError ? null : frontPage.fault(answer, hasError)),
};

/** The same, of a site in other versions, which may be closed at present: what it leads to there is what visitors see first. */
export const sameFrontPage: TrialPage = { ...frontPageOrClosed, isFollowed: true, comparison: "page" };

/** Whatever a site says there, as long as it is no error: it may have hidden its login page, or closed its dashboard. */
export const loginAndDashboard: readonly TrialPage[] = [
  { ...sameFrontPage, url: "/wp-login.php", name: "login page", comparison: "document" },
  // Whatever plugins do first in the dashboard is done for this request too, and nobody has to be logged in. It is no page.
  { ...frontPage, url: "/wp-admin/admin-ajax.php?action=heartbeat", name: "dashboard" },
];

/** A page of the update checks: it must exist, without an error. */
export function namedPage(path: string): TrialPage {
  return {
    url: path,
    name: `page ${path}`,
    isFollowed: true,
    comparison: "any",
    fault: (answer, hasError) =>
      answer.status >= 400 ? `has the status ${answer.status}` : frontPage.fault(answer, hasError),
  };
}

/** WordPress's own, or where it sends people who want to log in. */
export const loginPage: TrialPage = {
  url: "/wp-login.php",
  name: "login page",
  fault: ({ status, isWhole, location }) => {
    if (status === 200) return isWhole ? null : "breaks off";
    if (status < 300 || status >= 400) return `has the status ${status}`;
    return /\/wp-admin\/install\.php($|\?)/.test(location ?? "") ? "leads to WordPress's installation" : null;
  },
};

function noAnswer(reason: string, page: string): string {
  const sentences: Readonly<Record<string, string>> = {
    deadline: `its ${page} took too long`,
    crashed: `PHP crashed while it made the ${page}`,
    busy: "no PHP process was free for it",
    unavailable: "PHP could not be started for it",
  };
  return sentences[reason] ?? "it gave no answer";
}

/** The first error in PHP's log, without the date that stands before each line. */
function firstError(log: string): string | null {
  const line = log.split("\n").find((text) => /PHP (?:Fatal|Parse|Recoverable|Core|Compile)/i.test(text));
  return (
    line
      ?.replace(/^\[[^\]]*\]\s*/, "")
      .replaceAll("\0", "")
      .trim() ?? null
  );
}

/** What is wrong with the page, as a part of a sentence; null if nothing is. */
export function faultOf(trial: Trial, page = frontPage): string | null {
  const cause = firstError(trial.errors);
  const because = cause === null ? "" : `: ${cause}`;
  if (trial.reason !== null) return `${noAnswer(trial.reason, page.name)}${because}`;
  const fault = page.fault(trial, cause !== null);
  return fault === null ? null : `its ${page.name} ${fault}${because}`;
}

type TryingEdge = Pick<EdgeClient, "tryOut">;

const mostHops = 5;

interface Place {
  /** Path and query. */
  readonly url: string;
  readonly isHttps: boolean;
}

/** What was asked for last, and how it answered. */
interface Found {
  readonly trial: Trial;
  /** Where that would lead on the same site; null: it is no redirect, or one that leads elsewhere. */
  readonly next: Place | null;
}

function nextOf({ status, location }: Trial, { url, isHttps }: Place, host: string): Place | null {
  const isRedirect = status >= 300 && status < 400 && location !== null;
  const base = `${isHttps ? "https" : "http"}://${host}${url}`;
  if (!isRedirect || !URL.canParse(location, base)) return null;
  const to = new URL(location, base);
  return to.host === host ? { url: to.pathname + to.search, isHttps: to.protocol === "https:" } : null;
}

/** WordPress redirects to these if it finds no database, or one of another version. */
const isSetUp = ({ url }: Place) => /\/wp-admin\/(?:install|upgrade)\.php($|\?)/.test(url);

/** As the edge is told of it. */
export function servedAs({ environment, phpVersion, layout, isOffline = false }: Candidate) {
  return { id: environment.id, number: environment.number, phpVersion, isFrozen: false, isOffline, ...layout };
}

/** Of the page, or of what it leads to where that is meant. */
async function askFor(edge: TryingEdge, candidate: Candidate, signal: AbortSignal): Promise<Found> {
  const { address, isReadOnly, page = frontPage } = candidate;
  const { host, protocol } = new URL(address);
  const order = { environment: servedAs(candidate), host, isReadOnly };
  const ask = async (place: Place): Promise<Found> => {
    const trial = await edge.tryOut({ ...order, ...place }, signal);
    return { trial, next: nextOf(trial, place, host) };
  };
  let found = await ask({ url: page.url, isHttps: protocol === "https:" });
  for (let hops = 0; page.isFollowed && hops < mostHops; hops += 1) {
    if (found.next === null || isSetUp(found.next)) break;
    found = await ask(found.next);
  }
  return found;
}

/**
 * Why a page that may be as it is wished may be broken, as a part of a sentence: PHP that is ended in the middle of a page by a plugin
 * logs nothing. Null if there is no doubt.
 */
function doubtOf({ trial: { status, isWhole }, next }: Found, { isFollowed = false }: TrialPage): string | null {
  if (status >= 400) return `has the status ${status}`;
  if (status < 300) return isWhole ? null : "does not come to its end";
  if (next === null || !isFollowed) return null;
  return isSetUp(next) ? `leads to ${next.url}` : "leads in a circle";
}

/** Whether it was better before if the present page is unknown: some pages are known to exist, or to be complete. */
function isTakenForWorse({ trial: { status }, next }: Found, { comparison }: TrialPage): boolean {
  if (status >= 400) return comparison === "page";
  // A page may lead to itself until a browser comes with its cookie, and a trial has none.
  if (status >= 300) return next !== null && isSetUp(next);
  return comparison !== "any";
}

/** What has become of a page, as a part of a sentence; null if it is no worse than it was. */
async function worseThanBefore(
  edge: TryingEdge,
  { present, ...candidate }: Candidate,
  found: Found,
  signal: AbortSignal,
): Promise<string | null> {
  const { page = frontPage } = candidate;
  const doubt = doubtOf(found, page);
  if (present === undefined || page.comparison === undefined || doubt === null) return null;
  const before = await askFor(edge, { ...candidate, layout: present, isReadOnly: true }, signal);
  const { reason } = before.trial;
  if (reason === null) return doubtOf(before, page) === null ? `its ${page.name} ${doubt}, unlike at present` : null;
  if (passingReasons.includes(reason)) throw new TrialFailed("The present site could not be asked.", reason);
  if (reason !== "wouldWrite" || !isTakenForWorse(found, page)) return null;
  return `its ${page.name} ${doubt}, and whether it does at present can't be seen without changing something`;
}

export function makeTryOut(edge: TryingEdge): TryOut {
  return async (candidate, signal) => {
    const found = await askFor(edge, candidate, signal);
    const { trial } = found;
    if (trial.reason === "wouldWrite") return false;
    const fault = faultOf(trial, candidate.page) ?? (await worseThanBefore(edge, candidate, found, signal));
    if (fault === null) return true;
    throw new TrialFailed(`${candidate.what} does not answer as it should: ${fault}.`, trial.reason);
  };
}
