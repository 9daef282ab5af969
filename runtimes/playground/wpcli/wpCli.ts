/** WP-CLI for environments: a command each, in a process of its own, as the environment's user. */

import { totalmem } from "node:os";
import path from "node:path";
import pLimit, { type LimitFunction } from "p-limit";
import { environmentFolders } from "../../folders.ts";
import type { EnvironmentRef, WpCliCommand, WpCliOutcome } from "../../runtime.ts";
import type { OutgoingMail, TakeMail } from "../../serving.ts";
import type { AssetStore } from "../assets/store.ts";
import { mostBytes, usualMemoryMb } from "../pool/limits.ts";
import { layoutOf, requireRelease } from "../site/release.ts";
import type { CompiledStore } from "../templates/compiled.ts";
import { type AssignmentOptions, assignmentOf } from "../worker/assignment.ts";
import { runCommand, type WpCliLimits } from "./run.ts";

/** What a command reaches of the network, and in whose name. */
export type WpCliNetwork = Omit<AssignmentOptions, "environments">;

export interface WpCliOptions {
  readonly assets: AssetStore;
  readonly compiled: CompiledStore;
  readonly environments: string;
  /** Null: nothing at all. */
  readonly network: WpCliNetwork | null;
  readonly takeMail: TakeMail;
  /** Absent: the usual ones. For tests. */
  readonly limits?: Partial<Omit<WpCliLimits, "seconds">>;
}

export interface WpCli {
  /** As `Runtime.runWpCli`. */
  run(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome>;
}

const usualLimits = { keptBytes: 256 << 10, outputBytes: 64 << 20 };
/** A command takes as much as a worker; an eighth of the memory is for them. */
const memoryPerCommand = 400 << 20;
const mostAtOnce = Math.min(8, Math.max(2, Math.floor(totalmem() / 8 / memoryPerCommand)));

const nowhere: WpCliNetwork = { run: "/nowhere", edgePort: 0, siteSuffix: "localhost" };

export function createWpCli({ assets, compiled, environments, network, takeMail, limits }: WpCliOptions): WpCli {
  const limit = pLimit(mostAtOnce);

  async function assignment(environment: EnvironmentRef, memoryMb: number, maySendMail: boolean) {
    const release = await requireRelease(environmentFolders(environments, environment).live);
    const layout = await layoutOf(release, assets.folder);
    const assigned = { ...environment, ...layout, isOffline: network === null, limits: { memoryMb } };
    return assignmentOf(assigned, { environments, ...(network ?? nowhere), maySendMail });
  }

  async function run(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome> {
    const { phpVersion, argv, seconds, diskLeftBytes = null, maySendMail = false } = command;
    // WP-CLI lifts PHP's own limit: what counts is the one of the process, which has room for WP-CLI at least.
    const memoryMb = Math.max(usualMemoryMb, command.memoryMb ?? 0);
    const { wpCli } = await assets.files();
    const assigned = await assignment(environment, memoryMb, maySendMail);
    await compiled.recall(phpVersion);
    const prepare = {
      phpVersion,
      compiled: compiled.find(phpVersion),
      wpCli,
      argv,
      assignment: assigned,
      diskLeftBytes,
    };
    const job = {
      prepare,
      takeMail: (mail: OutgoingMail) => takeMail(environment.id, mail),
      limits: { ...usualLimits, memoryBytes: mostBytes(memoryMb), ...limits, seconds },
      codeCache: path.resolve(assets.folder, "code"),
    };
    return runCommand(job, begin, signal);
  }

  return {
    run: (environment, command, begin, signal) =>
      whenAllowed(limit, signal, () => run(environment, command, begin, signal)),
  };
}

/** Rejects as soon as the signal is aborted while the work waits. Work that has begun listens to the signal itself. */
function whenAllowed<T>(limit: LimitFunction, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const waiting = Promise.withResolvers<never>();
  const giveUp = () => waiting.reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  const begun = limit(() => {
    signal.removeEventListener("abort", giveUp);
    signal.throwIfAborted();
    return work();
  });
  return Promise.race([begun, waiting.promise]);
}
