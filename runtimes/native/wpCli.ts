/** Runs WP-CLI commands in sandboxes, as the environments' users. */
import type { AssetStore } from "../assets/store.ts";
import { hasChangedSince } from "../fileTree.ts";
import { environmentFolders } from "../folders.ts";
import { internalFolder, memoryFolder, platformFolder, siteFolder, wpCliScript } from "../phpFolders.ts";
import { disabledFunctions, functionsReplacedBy, phpSettings, uploadSettings } from "../phpSettings.ts";
import { createPhpMessages } from "../pool/phpMessages.ts";
import { requireRelease } from "../releases.ts";
import type { EnvironmentRef, Runtime, WpCliCommand, WpCliOutcome } from "../runtime.ts";
import type { AcceptMail } from "../serving.ts";
import { layoutOf } from "../site/release.ts";
import { adaptCommand } from "../wpcli/command.ts";
import { type CommandLimits, createCommandTurns, limitsOfCommand, memoryMbOf } from "../wpcli/limits.ts";
import { createCommandPriorities } from "../wpcli/priorities.ts";
import { TextTruncator } from "../wpcli/truncatedText.ts";
import { isDiskFullForCommands } from "./diskWatch.ts";
import { sendmailPath } from "./environmentFpm.ts";
import { environmentLimitsOf } from "./environmentLimits.ts";
import {
  type EnvironmentSandbox,
  messageSocketPath,
  openEnvironmentSandbox,
  type PhpSettings,
  type SandboxOptions,
} from "./environmentSandbox.ts";
import { receiveMessage } from "./receiveMessage.ts";
import type { SandboxLimits } from "./sandbox.ts";
import { type ProgramOutcome, runSandboxed } from "./sandboxedProgram.ts";

export interface NativeWpCliOptions extends SandboxOptions {
  readonly store: AssetStore;
  readonly acceptMail: AcceptMail;
  /** How much of the disk commands must leave free. Absent: nothing. */
  readonly diskReserveBytes?: number | undefined;
  /** Absent: the defaults. For tests. */
  readonly wpCliLimits?: Partial<Omit<CommandLimits, "seconds">> | undefined;
}

/** The path of WP-CLI for PHP. */
const program = `${internalFolder}/wp-cli.phar`;
/**
 * All errors except deprecations, which WP-CLI itself causes on newer PHP versions. WordPress sets its own level
 * (`WP_DEBUG`).
 */
const reported = 0x7fff & ~0x2000 & ~0x4000;
/** The file system's clock goes in steps of at most this length. */
const clockMilliseconds = 20;

export function createNativeWpCli(options: NativeWpCliOptions): Runtime["runWpCli"] {
  const priorities = createCommandPriorities({ sharesProcessor: false });
  const turns = createCommandTurns();
  const reserve = { folder: options.environments, bytes: options.diskReserveBytes ?? 0 };

  async function run(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome> {
    signal.throwIfAborted();
    const release = await requireRelease(environmentFolders(options.environments, environment).live);
    const layout = await layoutOf(release, options.assets);
    const php = options.phpOf(command.phpVersion);
    const served = { ...environment, ...layout };
    const settings = settingsOf(sendmailPath(php, 0), options);
    const place = await openEnvironmentSandbox(served, { root: php.root, sockets: 1, settings }, options);
    const limits = { ...limitsOfCommand(command), ...options.wpCliLimits };
    const stderr = new TextTruncator(limits.maxOutputBytes);
    try {
      const log = (line: string) => stderr.add(Buffer.from(`${line}\n`));
      const notes = listen(environment, place, { acceptMail: options.acceptMail, log });
      const { wpCli } = await options.store.files();
      const mounts = [...place.sandbox.mounts, { from: wpCli, to: program, isWritable: false }];
      await begin();
      signal.throwIfAborted();
      const leftBytes = command.diskLeftBytes ?? null;
      if (isDiskFullForCommands(leftBytes, reserve)) return refused(stderr);
      const before = { time: Date.now() - clockMilliseconds, database: place.databaseState() };
      const outcome = await runSandboxed(
        {
          ...place.sandbox,
          mounts,
          limits: groupLimits(environment, command),
          variables: { ...place.sandbox.variables, ...variables },
          workingFolder: siteFolder,
        },
        [php.php, ...programOf(command)],
        {
          limits,
          stderr,
          disk: { leftBytes, reserve },
          signal: endOf(place, signal, options),
          onStart: (child) => priorities.watch(companyOf(environment, command), child).setYielding(true),
        },
      );
      signal.throwIfAborted();
      const isDatabaseChanged = place.databaseState() !== before.database && !notes.isHousekeeping;
      const hasChanged =
        isDatabaseChanged || notes.hasTouched || (await hasChangedSince(layout.documentRoot, before.time));
      return { ...outcome, mayHaveChanged: isUnfinished(outcome) || hasChanged };
    } finally {
      await place.close();
    }
  }

  return (environment, command, begin, signal) =>
    turns.run(companyOf(environment, command), () => run(environment, command, begin, signal), signal);
}

/** The outcome of a command that is not run, because the disk is full. */
function refused(stderr: TextTruncator): WpCliOutcome {
  stderr.add(
    Buffer.from(
      "The command was not run: the environment is far above its disk quota, or the server's disk is nearly full. Raise the quota, or ask the operator.\n",
    ),
  );
  return {
    stdout: new TextTruncator(0).result(),
    stderr: stderr.result(),
    exitCode: null,
    end: "crash",
    mayHaveChanged: false,
  };
}

/** A command is in a group of its own: the limits of the environment's follow from its threads. */
function groupLimits(environment: EnvironmentRef, command: WpCliCommand): SandboxLimits {
  const limits = { threads: 1, memoryMb: memoryMbOf(command), requestSeconds: null, disk: null };
  return environmentLimitsOf({
    id: `${environment.id}-wpcli`,
    companyId: companyOf(environment, command),
    limits,
  });
}

/** Returns the signal that ends a command. */
function endOf({ sandbox }: EnvironmentSandbox, signal: AbortSignal, { network }: NativeWpCliOptions): AbortSignal {
  return sandbox.isOffline || network === null ? signal : AbortSignal.any([signal, network.lost]);
}

const companyOf = (environment: EnvironmentRef, { companyId }: WpCliCommand) => companyId ?? environment.id;
const isUnfinished = ({ exitCode }: ProgramOutcome) => exitCode === null;

/** What a command has told about its changes. */
interface Notes {
  isHousekeeping: boolean;
  hasTouched: boolean;
}

interface Listener {
  readonly acceptMail: AcceptMail;
  /** Receives a line for the command's errors. */
  readonly log: (line: string) => void;
}

function listen(environment: EnvironmentRef, place: EnvironmentSandbox, { acceptMail, log }: Listener): Notes {
  const notes: Notes = { isHousekeeping: false, hasTouched: false };
  const messages = createPhpMessages();
  const ignored = () => undefined;
  messages.begin({
    onStalePages: () => {
      notes.hasTouched = true;
    },
    onlyHousekeeping: () => {
      notes.isHousekeeping = true;
    },
    isPrivate: ignored,
    shows: ignored,
  });
  const mail: Parameters<typeof receiveMessage>[1]["mail"] = (message) => acceptMail(environment.id, message);
  place.messages[0]?.setReceiver((message) => receiveMessage(message, { token: "", messages, mail, log }));
  return notes;
}

const variables = { HOME: memoryFolder, PAGER: "cat", SITEWRIGHT_SOCKET: messageSocketPath(0) };

function settingsOf(sendmail: string, { uploads }: NativeWpCliOptions): PhpSettings {
  const disabled = [...disabledFunctions.filter((name) => name !== "proc_open"), ...functionsReplacedBy("mysqli")];
  return {
    ...phpSettings,
    ...(uploads && uploadSettings(uploads)),
    error_reporting: reported,
    // As for programs on the command line elsewhere. The limit of the command's sandbox counts.
    memory_limit: -1,
    disable_functions: disabled.join(","),
    sendmail_path: sendmail,
    auto_prepend_file: `${platformFolder}/plugin.php`,
  };
}

function programOf({ argv }: WpCliCommand): readonly string[] {
  const own = [`--path=${siteFolder}`, "--allow-root", "--no-color", `--require=${wpCliScript}`];
  return [program, ...own, ...adaptCommand(argv)];
}
