/** What a step's error means: worth another try or not, and what the customer may read of it. */
import { RuntimeFailure } from "@sitewright/runtimes/runtime.ts";
import { ObjectStoreFailure } from "../../archives/objectStoreFailure.ts";
import { Unreadable } from "../../archives/tree.ts";
import { DnsUnavailable } from "../../clients/dnsUnavailable.ts";
import { EdgeUnavailable } from "../../clients/edgeClient.ts";
import { type FailureKind, StepFailure } from "./operation.ts";

/** A step went on past its deadline. */
export class DeadlinePassed extends Error {
  override readonly name = "DeadlinePassed";
  constructor(seconds: number) {
    super(`This took longer than ${seconds} seconds and was given up.`);
  }
}

/** Each process that began the step ended while it ran. */
export class CrashLoop extends Error {
  override readonly name = "CrashLoop";
  constructor() {
    super("The server stopped each time this was tried, so it was given up.");
  }
}

export const diskFullReason =
  "The disk of this server is full. Nothing was changed; try again when the operator has made room.";

const passingNodeErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "EMFILE",
  "ENFILE",
]);
/** Serialization failure, deadlock, a lock not to be had, too many connections, shutting down, starting up. */
const passingSqlStates = new Set(["40001", "40P01", "55P03", "53300", "57P01", "57P02", "57P03"]);
const diskFullCodes = new Set(["ENOSPC", "EDQUOT", "53100"]);

/** Whether the same may succeed in a moment without anybody changing anything. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StepFailure) return error.isTransient;
  if (error instanceof RuntimeFailure) return false;
  if (error instanceof EdgeUnavailable || error instanceof DnsUnavailable) return true;
  // It was asked again and again already, and a site may be frozen meanwhile.
  if (error instanceof ObjectStoreFailure) return false;
  return causes(error).some((cause) => {
    const code = codeOf(cause);
    if (code === null) return isLostConnection(cause);
    return passingNodeErrors.has(code) || passingSqlStates.has(code) || code.startsWith("08");
  });
}

/** What has ended each process that tried it would end the next one too. */
export function kindOf(error: unknown): FailureKind {
  if (error instanceof StepFailure) return error.kind;
  return error instanceof CrashLoop ? "refused" : null;
}

/** node-postgres gives these no code. */
function isLostConnection(error: Error): boolean {
  return /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(
    error.message,
  );
}

export interface PublicReason {
  readonly text: string;
  /** False if the text says nothing about the cause: the log must. */
  readonly saysCause: boolean;
}

/** What the customer may read. Only messages made for them are passed on. */
export function publicReason(error: unknown, referenceId: string): PublicReason {
  if (causes(error).some((cause) => diskFullCodes.has(codeOf(cause) ?? ""))) {
    return { text: diskFullReason, saysCause: true };
  }
  const isPublic =
    error instanceof StepFailure ||
    error instanceof RuntimeFailure ||
    error instanceof Unreadable ||
    error instanceof DeadlinePassed ||
    error instanceof CrashLoop;
  if (isPublic) return { text: error.message, saysCause: true };
  // The store's own words name places that are none of the customer's business.
  const what = error instanceof ObjectStoreFailure ? error.summary : "Something went wrong on the server.";
  return { text: `${what} The operator finds the cause in the log under ${referenceId}.`, saysCause: false };
}

/** The error, its cause, the cause of that, and so on. */
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
