/** The edge process's admin server, on a Unix socket in a folder that only we may enter. */
import { request } from "node:http";
import type { EdgeEnvironment, EdgeTable } from "@sitewright/edge/table.ts";

export interface EdgeStatus {
  /** Of the table that it serves. */
  readonly generation: number;
  /** Where visitors reach it. */
  readonly port: number;
}

export interface TrialOrder {
  readonly environment: EdgeEnvironment;
  /** With port. */
  readonly host: string;
  /** Path and query. */
  readonly url: string;
  /** Whether PHP may change nothing. Where it tries, the reason is `wouldWrite`. */
  readonly isReadOnly: boolean;
}

/** How an environment answered that was tried out. */
export interface Trial {
  /** 0 where there was no answer. */
  readonly status: number;
  /** Whether the answer ended as a page does: with `</html>`. */
  readonly isWhole: boolean;
  /** The beginning of what PHP wrote to its log meanwhile. */
  readonly errors: string;
  /** Why there was no answer: `busy`, `deadline`, `crashed`, `unavailable` or `wouldWrite`. Null where there was one. */
  readonly reason: string | null;
  /** Where it sends the visitor on to, if it does. */
  readonly location: string | null;
}

export interface EdgeClient {
  /** Hands over a table and gives the generation that the edge serves then: this one, or a newer. */
  putTable(table: EdgeTable, signal?: AbortSignal): Promise<number>;
  status(signal?: AbortSignal): Promise<EdgeStatus>;
  /** Resolves when no write to the environment is under way any more; the table that freezes it must be in force. */
  settle(environmentId: string, signal?: AbortSignal): Promise<void>;
  /**
   * Asks as if the environment were served as it is given here; visitors notice nothing. Served like this within a
   * minute, it answers from processes that have started already.
   */
  tryOut(order: TrialOrder, signal?: AbortSignal): Promise<Trial>;
}

/** The edge could not be asked, or did not understand: it may be starting. */
export class EdgeUnavailable extends Error {
  override readonly name = "EdgeUnavailable";
}

const patienceMilliseconds = 5_000;
/** PHP may take its time for a page, and has to start first. */
const trialPatienceMilliseconds = 65_000;
/** Longer than the edge lets a write go on to a site that is frozen. */
const settlePatienceMilliseconds = 30_000;

/**
 * Every method rejects with `EdgeUnavailable` where there is no proper answer within five seconds; `settle` waits for
 * 30 seconds, `tryOut` for 65.
 */
export function makeEdgeClient(socketPath: string): EdgeClient {
  async function ask(
    method: string,
    path: string,
    body: string | null,
    signal: AbortSignal | undefined,
    patience = patienceMilliseconds,
  ): Promise<unknown> {
    const time = AbortSignal.timeout(patience);
    const both = signal ? AbortSignal.any([signal, time]) : time;
    try {
      return JSON.parse(await exchange({ socketPath, method, path, signal: both }, body));
    } catch (cause) {
      throw new EdgeUnavailable(`The edge gave no answer to ${method} ${path}`, { cause });
    }
  }

  return {
    putTable: async (table, signal) =>
      numberAt(await ask("PUT", "/table", JSON.stringify(table), signal), "generation"),
    status: async (signal) => {
      const answer = await ask("GET", "/status", null, signal);
      return { generation: numberAt(answer, "generation"), port: numberAt(answer, "port") };
    },
    settle: async (environmentId, signal) => {
      await ask("POST", "/settle", JSON.stringify({ environmentId }), signal, settlePatienceMilliseconds);
    },
    tryOut: async (order, signal) => {
      const answer = await ask("POST", "/try", JSON.stringify(order), signal, trialPatienceMilliseconds);
      if (!isTrial(answer)) throw new EdgeUnavailable("The edge's answer is not that of a trial");
      return answer;
    },
  };
}

interface Exchange {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly signal: AbortSignal;
}

function exchange(options: Exchange, body: string | null): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers =
      body === null ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const asked = request({ ...options, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`It answered ${response.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    asked.on("error", reject);
    asked.end(body ?? undefined);
  });
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

function isTrial(answer: unknown): answer is Trial {
  return (
    typeof answer === "object" &&
    answer !== null &&
    "status" in answer &&
    typeof answer.status === "number" &&
    "isWhole" in answer &&
    typeof answer.isWhole === "boolean" &&
    "errors" in answer &&
    typeof answer.errors === "string" &&
    "reason" in answer &&
    isTextOrNull(answer.reason) &&
    "location" in answer &&
    isTextOrNull(answer.location)
  );
}

function numberAt(answer: unknown, key: string): number {
  const value: unknown = typeof answer === "object" && answer !== null ? Reflect.get(answer, key) : undefined;
  if (typeof value !== "number") throw new EdgeUnavailable(`The edge's answer has no ${key}`);
  return value;
}
