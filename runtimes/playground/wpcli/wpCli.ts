/** Runs WP-CLI commands for environments, each in its own process as the environment's user. */

import type { ChildProcess } from "node:child_process";
import path from "node:path";
import type { AssetStore } from "../../assets/store.ts";
import { environmentFolders } from "../../folders.ts";
import { requireRelease } from "../../releases.ts";
import type { EnvironmentRef, WpCliCommand, WpCliOutcome } from "../../runtime.ts";
import type { AcceptMail, OutgoingMail, UploadLimits } from "../../serving.ts";
import { layoutOf } from "../../site/release.ts";
import { type CommandLimits, createCommandTurns, limitsOfCommand, memoryMbOf } from "../../wpcli/limits.ts";
import { createCommandPriorities } from "../../wpcli/priorities.ts";
import { extensionsFolder } from "../extensions/extensionsFolder.ts";
import type { CompiledStore } from "../templates/compiled.ts";
import { type AssignmentOptions, assignmentOf } from "../worker/assignment.ts";
import { runCommand } from "./run.ts";

/** Network access of a command. */
export type WpCliNetwork = Omit<AssignmentOptions, "environments" | "assets">;

export interface WpCliOptions {
  readonly assets: AssetStore;
  readonly compiled: CompiledStore;
  readonly environments: string;
  /** How much of the disk commands must leave free. */
  readonly diskReserveBytes: number;
  /** Null: no network access. */
  readonly network: WpCliNetwork | null;
  readonly acceptMail: AcceptMail;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits | undefined;
  /** Absent: the defaults. For tests. */
  readonly limits?: Partial<Omit<CommandLimits, "seconds">>;
}

interface WpCli {
  /** Implements `Runtime.runWpCli`. */
  run(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome>;
}

const noNetwork: WpCliNetwork = { run: "/nowhere", credentialOf: () => "", edgePort: 0, siteSuffix: "localhost" };

export function createWpCli(options: WpCliOptions): WpCli {
  const { assets, compiled, environments, diskReserveBytes, network, acceptMail, uploads, limits } = options;
  const priorities = createCommandPriorities({ sharesProcessor: true });
  const turns = createCommandTurns();

  async function assignment(environment: EnvironmentRef, memoryMb: number, maySendMail: boolean) {
    const release = await requireRelease(environmentFolders(environments, environment).live);
    const layout = await layoutOf(release, assets.folder);
    const assigned = { ...environment, ...layout, isOffline: network === null, limits: { memoryMb } };
    const places = { assets: assets.folder, environments };
    return assignmentOf(assigned, { ...places, diskReserveBytes, ...(network ?? noNetwork), maySendMail });
  }

  const companyOf = (environment: EnvironmentRef, { companyId }: WpCliCommand) => companyId ?? environment.id;

  async function run(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome> {
    const { phpVersion, argv, diskLeftBytes = null, maySendMail = false } = command;
    const { wpCli } = await assets.files();
    const assigned = await assignment(environment, memoryMbOf(command), maySendMail);
    await compiled.lookUp(phpVersion);
    const prepare = {
      phpVersion,
      compiled: compiled.find(phpVersion),
      wpCli,
      argv,
      assignment: assigned,
      diskLeftBytes,
      extensions: extensionsFolder(assets.folder),
      uploads,
    };
    const job = {
      prepare,
      acceptMail: (mail: OutgoingMail) => acceptMail(environment.id, mail),
      limits: { ...limitsOfCommand(command), ...limits },
      watchPriority: (child: ChildProcess) => priorities.watch(companyOf(environment, command), child),
      codeCache: path.resolve(assets.folder, "code"),
    };
    return runCommand(job, begin, signal);
  }

  return {
    run: (environment, command, begin, signal) =>
      turns.run(companyOf(environment, command), () => run(environment, command, begin, signal), signal),
  };
}
