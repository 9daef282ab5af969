/** Classifies the errors of steps: whether to retry, and which message users see. */
import { RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { ObjectStoreFailure } from "../../archives/objectStoreFailure.ts";
import { Unreadable } from "../../archives/tree.ts";
import { DnsUnavailable } from "../../clients/dnsUnavailable.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { type FailureKind, StepFailure } from "./operation.ts";

/** A step did not end before its deadline. */
export class DeadlineExceeded extends Error {
  override readonly name = "DeadlineExceeded";
  constructor(seconds: number) {
    super(`This took longer than ${seconds} seconds and was aborted.`);
  }
}

/** Every process that started the step died while it was running. */
export class CrashLoop extends Error {
  override readonly name = "CrashLoop";
  constructor() {
    super("The server stopped each time this was tried, so it was given up.");
  }
}

export const diskFullReason =
  "The server's disk is full. Nothing was changed; try again when the operator has freed disk space.";

const transientNodeErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EMFILE",
  "ENFILE",
]);
/** Serialization failure, deadlock, lock not available, too many connections, shutdown, startup. */
const transientSqlStates = new Set(["40001", "40P01", "55P03", "53300", "57P01", "57P02", "57P03"]);
const diskFullCodes = new Set(["ENOSPC", "EDQUOT", "53100"]);

/** Whether a retry may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StepFailure) return error.isTransient;
  if (error instanceof RuntimeFailure) return false;
  if (error instanceof EdgeUnavailable || error instanceof DnsUnavailable) return true;
  // The client has retried already, and a site may be frozen while we wait.
  if (error instanceof ObjectStoreFailure) return false;
  return causes(error).some((cause) => {
    const code = codeOf(cause);
    if (code === null) return isLostConnection(cause);
    return transientNodeErrors.has(code) || transientSqlStates.has(code) || code.startsWith("08");
  });
}

/** A crash loop counts as refused: the step would crash the next process, too. */
export function failureKindOf(error: unknown): FailureKind {
  if (error instanceof StepFailure) return error.kind;
  return error instanceof CrashLoop ? "refused" : null;
}

/** node-postgres reports these errors without a code. */
function isLostConnection(error: Error): boolean {
  return /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(
    error.message,
  );
}

interface PublicReason {
  readonly text: string;
  /** False if the text does not name the cause, so that it must be logged. */
  readonly saysCause: boolean;
}

/** Returns the message for users. Messages that were not written for users are replaced by a general sentence. */
export function publicReason(error: unknown, referenceId: string): PublicReason {
  if (causes(error).some((cause) => diskFullCodes.has(codeOf(cause) ?? ""))) {
    return { text: diskFullReason, saysCause: true };
  }
  const isPublic =
    error instanceof StepFailure ||
    error instanceof RuntimeFailure ||
    error instanceof Unreadable ||
    error instanceof DeadlineExceeded ||
    error instanceof CrashLoop;
  if (isPublic) return { text: error.message, saysCause: true };
  // The store's full message names internal addresses.
  const what = error instanceof ObjectStoreFailure ? error.summary : "Something went wrong on the server.";
  return { text: `${what} The operator finds the cause in the log under ${referenceId}.`, saysCause: false };
}

/** Returns the error and its chain of causes, including the parts of aggregate errors. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let current = error; current instanceof Error && !chain.includes(current); current = current.cause) {
    chain.push(current);
    if (current instanceof AggregateError) chain.push(...current.errors.flatMap(causes));
  }
  return chain;
}

function codeOf(error: Error): string | null {
  return "code" in error && typeof error.code === "string" ? error.code : null;
}
