/**
 * Tries out a candidate, such as a staged release or another PHP version, before visitors see it: the edge requests its
 * pages while visitors still get the current release.
 */
import type { EnvironmentLayout, EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { EdgeClient, Trial } from "../../clients/edgeClient.ts";
import type { Php } from "../../store/sites/environmentStates.ts";
import { StepFailure } from "../engine/operation.ts";

/** What to try out, and at which address. */
export interface Candidate {
  readonly environment: EnvironmentRef;
  readonly php: Pick<Php, "runtime" | "version">;
  readonly layout: EnvironmentLayout;
  /** `http://demo.localhost:8081`. */
  readonly address: string;
  /** Names the candidate in error messages: `The site on PHP 8.4`. */
  readonly what: string;
  /** Whether PHP must not write, because visitors use some of the same data. */
  readonly isReadOnly: boolean;
  /** Whether PHP has no network access. Absent: false. */
  readonly isOffline?: boolean;
  /** The page to request. Absent: the front page. */
  readonly page?: TrialPage;
  /**
   * The release that visitors see now. No page may be worse than its counterpart there. Absent: pages are not compared.
   */
  readonly current?: EnvironmentLayout;
}

/** A page, and which responses are acceptable. */
export interface TrialPage {
  readonly url: string;
  /** Names the page in error messages: `front page`. */
  readonly name: string;
  /** Whether to follow redirects within the site. Absent: false. */
  readonly isFollowed?: boolean;
  /**
   * What to assume about the current page if it can't be requested without writing. `page`: it exists and is complete;
   * `document`: it is complete if it exists; `any`: nothing. Absent: the page is not compared with the current one.
   */
  readonly comparison?: "page" | "document" | "any";
  /**
   * Returns what is wrong with a response, as a part of a sentence, or null if it is acceptable. `hasError` tells
   * whether PHP logged an error.
   */
  fault(answer: Pick<Trial, "status" | "isComplete" | "location">, hasError: boolean): string | null;
}

/**
 * Resolves with true if the page is fine, or with false if the result is unknown because PHP tried to write to
 * read-only data. Rejects with `TrialFailed`, whose message contains the PHP error, if the page is not acceptable.
 */
export type RunTrial = (candidate: Candidate, signal: AbortSignal) => Promise<boolean>;

/** Reasons for a missing response that tell nothing about the page. */
const inconclusiveReasons: readonly (string | null)[] = ["busy", "unavailable", "diskFull"];

/** The page is not acceptable, or PHP gave no response. */
export class TrialFailed extends StepFailure {
  /** Why there was no response, see `Trial`, or null if there was one. */
  readonly reason: string | null;
  constructor(publicMessage: string, reason: string | null) {
    super(publicMessage, {
      isTransient: reason === "busy",
      kind: inconclusiveReasons.includes(reason) ? null : "refused",
    });
    this.reason = reason;
  }
}

/** The front page. Any response is acceptable unless it is an error. */
export const frontPage: TrialPage = {
  url: "/",
  name: "front page",
  fault: ({ status, isComplete }, hasError) => {
    if (status >= 500) return `has the status ${status}`;
    return !isComplete && hasError ? "is incomplete" : null;
  },
};

/** Like `frontPage`, but accepts 503: a restored site may be in maintenance mode, as it was when it was backed up. */
export const frontPageOrMaintenance: TrialPage = {
  ...frontPage,
  fault: (answer, hasError) => (answer.status === 503 && !hasError ? null : frontPage.fault(answer, hasError)),
};

/** The front page of a site before and after an update. Follows redirects, as visitors do. */
export const comparedFrontPage: TrialPage = { ...frontPageOrMaintenance, isFollowed: true, comparison: "page" };

/** The login page of a site before and after a change. Any response is acceptable unless it is an error: plugins may hide it. */
export const comparedLoginPage: TrialPage = {
  ...comparedFrontPage,
  url: "/wp-login.php",
  name: "login page",
  comparison: "document",
};

/** The login page and the dashboard. Any response is acceptable unless it is an error: plugins may hide both. */
export const loginAndDashboard: readonly TrialPage[] = [
  comparedLoginPage,
  // Runs the plugins' dashboard code without a login. Its response is not a page, so it is not compared.
  { ...frontPage, url: "/wp-admin/admin-ajax.php?action=heartbeat", name: "dashboard" },
];

/** A page that the owner has chosen for update checks. It must exist and have no error. */
export function updateCheckPage(path: string): TrialPage {
  return {
    url: path,
    name: `page ${path}`,
    isFollowed: true,
    comparison: "any",
    fault: (answer, hasError) =>
      answer.status >= 400 ? `has the status ${answer.status}` : frontPage.fault(answer, hasError),
  };
}

/** The login page of WordPress, or a redirect to another login page. */
export const loginPage: TrialPage = {
  url: "/wp-login.php",
  name: "login page",
  fault: ({ status, isComplete, location }) => {
    if (status === 200) return isComplete ? null : "is incomplete";
    if (status < 300 || status >= 400) return `has the status ${status}`;
    return /\/wp-admin\/install\.php($|\?)/.test(location ?? "") ? "redirects to the installation of WordPress" : null;
  },
};

function noAnswer(reason: string, page: string): string {
  const sentences: Readonly<Record<string, string>> = {
    deadline: `its ${page} took too long`,
    crashed: `PHP crashed while it rendered the ${page}`,
    busy: "no PHP process was free for it",
    unavailable: "PHP could not be started for it",
    diskFull: `its ${page} could not be shown because the disk is full. Raise the environment's quota, remove files, or ask the operator whether the server's disk is full`,
  };
  return sentences[reason] ?? "it did not respond";
}

/** Returns the first error in PHP's log without its date, or null. */
function firstError(log: string): string | null {
  const line = log.split("\n").find((text) => /PHP (?:Fatal|Parse|Recoverable|Core|Compile)/i.test(text));
  return (
    line
      ?.replace(/^\[[^\]]*\]\s*/, "")
      .replaceAll("\0", "")
      .trim() ?? null
  );
}

/** Returns what is wrong with the page, as a part of a sentence, or null if it is acceptable. */
export function faultOf(trial: Trial, page = frontPage): string | null {
  const cause = firstError(trial.errors);
  const because = cause === null ? "" : `: ${cause}`;
  if (trial.reason !== null) return `${noAnswer(trial.reason, page.name)}${because}`;
  const fault = page.fault(trial, cause !== null);
  return fault === null ? null : `its ${page.name} ${fault}${because}`;
}

type TrialEdge = Pick<EdgeClient, "runTrial">;

const maxRedirects = 5;

interface PageUrl {
  /** Path and query. */
  readonly url: string;
  readonly isHttps: boolean;
}

/** The last response, after redirects. */
interface PageResponse {
  readonly trial: Trial;
  /** Target of a redirect within the same site, or null. */
  readonly next: PageUrl | null;
}

function redirectTarget({ status, location }: Trial, { url, isHttps }: PageUrl, host: string): PageUrl | null {
  const isRedirect = status >= 300 && status < 400 && location !== null;
  const base = `${isHttps ? "https" : "http"}://${host}${url}`;
  if (!isRedirect || !URL.canParse(location, base)) return null;
  const to = new URL(location, base);
  return to.host === host ? { url: to.pathname + to.search, isHttps: to.protocol === "https:" } : null;
}

/** WordPress redirects to these pages if it finds no database or one of a different version. */
const isSetUp = ({ url }: PageUrl) => /\/wp-admin\/(?:install|upgrade)\.php($|\?)/.test(url);

/** Returns the candidate as the edge expects it. */
export function servedAs({ environment, php, layout, isOffline = false }: Candidate) {
  const { id, number, companyId } = environment;
  const company = companyId === undefined ? {} : { companyId };
  return {
    id,
    number,
    ...company,
    runtime: php.runtime,
    phpVersion: php.version,
    isFrozen: false,
    isOffline,
    ...layout,
  };
}

/** Reasons that may lie in the machine rather than the site: PHP was killed, or had too little of the processor. */
const retriedReasons: readonly (string | null)[] = ["crashed", "deadline"];

async function tryTwice(runTrial: () => Promise<Trial>): Promise<Trial> {
  const first = await runTrial();
  return retriedReasons.includes(first.reason) ? runTrial() : first;
}

/** Requests the page, and follows its redirects if the page asks for it. */
async function loadPage(edge: TrialEdge, candidate: Candidate, signal: AbortSignal): Promise<PageResponse> {
  const { address, isReadOnly, page = frontPage } = candidate;
  const { host, protocol } = new URL(address);
  const order = { environment: servedAs(candidate), host, isReadOnly };
  const load = async (url: PageUrl): Promise<PageResponse> => {
    const trial = await tryTwice(() => edge.runTrial({ ...order, ...url }, signal));
    return { trial, next: redirectTarget(trial, url, host) };
  };
  let response = await load({ url: page.url, isHttps: protocol === "https:" });
  for (let redirects = 0; page.isFollowed && redirects < maxRedirects; redirects += 1) {
    if (response.next === null || isSetUp(response.next)) break;
    response = await load(response.next);
  }
  return response;
}

/**
 * Returns why an acceptable page may still be broken, as a part of a sentence, or null. For example, if a plugin ends
 * PHP in the middle of a page, nothing is logged.
 */
function findDoubt(
  { trial: { status, isComplete }, next }: PageResponse,
  { isFollowed = false }: TrialPage,
): string | null {
  if (status >= 400) return `has the status ${status}`;
  if (status < 300) return isComplete ? null : "is incomplete";
  if (next === null || !isFollowed) return null;
  return isSetUp(next) ? `redirects to ${next.url}` : "is a redirect loop";
}

/** Whether the page counts as worse if its current counterpart is unknown. See `TrialPage.comparison`. */
function countsAsWorse({ trial: { status }, next }: PageResponse, { comparison }: TrialPage): boolean {
  if (status >= 400) return comparison === "page";
  // Redirects to itself are normal for pages that set a cookie first: a trial sends no cookies.
  if (status >= 300) return next !== null && isSetUp(next);
  return comparison !== "any";
}

/**
 * Returns in which way the page is worse than its current counterpart, as a part of a sentence, or null if it is not.
 */
async function worseThanBefore(
  edge: TrialEdge,
  { current, ...candidate }: Candidate,
  response: PageResponse,
  signal: AbortSignal,
): Promise<string | null> {
  const { page = frontPage } = candidate;
  const doubt = findDoubt(response, page);
  if (current === undefined || page.comparison === undefined || doubt === null) return null;
  const before = await loadPage(edge, { ...candidate, layout: current, isReadOnly: true }, signal);
  const { reason } = before.trial;
  if (reason === null) return findDoubt(before, page) === null ? `its ${page.name} ${doubt}, unlike before` : null;
  if (inconclusiveReasons.includes(reason)) throw new TrialFailed("The current site did not respond.", reason);
  if (reason !== "wouldWrite" || !countsAsWorse(response, page)) return null;
  return `its ${page.name} ${doubt}, and could not be compared with the current one, which would write to the site`;
}

/**
 * Whether the page failed in the current release too: with an error of the server, or without a response. Otherwise the owner
 * of a broken site could not install the update that repairs it.
 */
async function wasBrokenBefore(
  edge: TrialEdge,
  { current, ...candidate }: Candidate,
  { trial }: PageResponse,
  signal: AbortSignal,
): Promise<boolean> {
  // Maintenance mode, which some pages allow, is no error, and a missing page is none either.
  const isBroken = (one: Trial) => faultOf(one, candidate.page) !== null && faultOf(one) !== null;
  if (current === undefined || !isBroken(trial)) return false;
  const before = await loadPage(edge, { ...candidate, layout: current, isReadOnly: true }, signal);
  const { reason } = before.trial;
  if (inconclusiveReasons.includes(reason)) throw new TrialFailed("The current site did not respond.", reason);
  return reason !== "wouldWrite" && isBroken(before.trial);
}

export function makeRunTrial(edge: TrialEdge): RunTrial {
  return async (candidate, signal) => {
    const response = await loadPage(edge, candidate, signal);
    const { trial } = response;
    if (trial.reason === "wouldWrite") return false;
    const error = faultOf(trial, candidate.page);
    if (error !== null && (await wasBrokenBefore(edge, candidate, response, signal))) return true;
    const fault = error ?? (await worseThanBefore(edge, candidate, response, signal));
    if (fault === null) return true;
    throw new TrialFailed(`${candidate.what} failed its check: ${fault}.`, trial.reason);
  };
}
