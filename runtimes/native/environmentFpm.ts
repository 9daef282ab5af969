/** Starts an environment's php-fpm with its settings. */
import { platformFolder } from "../phpFolders.ts";
import { disabledFunctions, functionsReplacedBy, phpSettings, uploadSettings } from "../phpSettings.ts";
import { limitsOf } from "../pool/limits.ts";
import type { ServedEnvironment, UploadLimits } from "../serving.ts";
import { sharedMounts } from "./environmentMounts.ts";
import {
  type EnvironmentSandbox,
  messageSocketPath,
  type PhpProgram,
  type PhpSettings,
  platformSource,
  type SandboxOptions,
} from "./environmentSandbox.ts";
import { FpmMaster } from "./fpmMaster.ts";
import type { OpcodeJob } from "./opcodes/job.ts";

export interface EnvironmentFpmOptions extends SandboxOptions {
  /** Receives each line that php-fpm logs about itself. */
  readonly onLog: (line: string) => void;
  /** Receives the error if something of a php-fpm that has ended could not be removed. */
  readonly onFailure: (error: unknown) => void;
}

/** The child of a slot without a connection ends after this time. */
const idleSeconds = 10;

/** Starts php-fpm in the sandbox, which is closed if that fails. */
export async function startFpm(
  php: PhpProgram,
  place: EnvironmentSandbox,
  { onLog }: EnvironmentFpmOptions,
): Promise<FpmMaster> {
  try {
    return await FpmMaster.start({
      sandbox: place.sandbox,
      program: php.fpm,
      folder: place.folder,
      slots: place.messages.length,
      idleSeconds,
      settings: {},
      slotSettings: (slot) => ({ sendmail_path: sendmailPath(php, slot) }),
      onLog,
    });
  } catch (error) {
    await place.close();
    throw error;
  }
}

/** PHP's settings for pages of all environments. */
function commonSettings(): PhpSettings {
  return {
    ...phpSettings,
    // The site's own settings are the same with every engine.
    "user_ini.filename": "",
    "cgi.fix_pathinfo": 0,
    // A request ends when its script does: only then may the next one have its worker.
    disable_functions: [...disabledFunctions, "fastcgi_finish_request", ...functionsReplacedBy("mysqli")].join(","),
  };
}

/** PHP's settings for pages. */
export function fpmSettings(environment: ServedEnvironment, uploads: UploadLimits | undefined): PhpSettings {
  return {
    ...commonSettings(),
    ...(uploads && uploadSettings(uploads)),
    memory_limit: `${limitsOf(environment).memoryMb}M`,
    auto_prepend_file: `${platformFolder}/fpm.php`,
  };
}

/** The command that PHP's `mail()` runs, with options of the site's behind it. `socket`: the number of the socket for messages. */
export function sendmailPath({ php }: PhpProgram, socket: number): string {
  return `${php} -n -d memory_limit=256M ${platformFolder}/sendmail.php ${messageSocketPath(socket)} -t -i`;
}

/** Returns the compilation that all environments with this shared code have in common, or null if they share none. Throws if the code doesn't exist. */
export function opcodeJobOf(
  environment: Pick<ServedEnvironment, "overlays">,
  php: PhpProgram,
  { assets }: Pick<SandboxOptions, "assets">,
): OpcodeJob | null {
  const shared = sharedMounts(environment, assets);
  if (shared.length === 0) return null;
  const platform = { from: platformSource, to: platformFolder, isWritable: false };
  return { php, shared: [...shared, platform], settings: commonSettings() };
}
