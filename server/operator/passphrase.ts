/** The passphrase of a backup: from the environment, or typed without echo. Not an argument, which other users could see. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { exitFailed, Failure } from "./failure.ts";

const passphraseVariable = "SITEWRIGHT_BACKUP_PASSPHRASE";
const minCharacters = 12;
const interrupted = 130;

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Prompts are written here. */
  readonly output: NodeJS.WritableStream;
}

/** Gets the passphrase for a new backup: long enough, and typed twice. Rejects with `Failure`. */
export async function choosePassphrase(env: NodeJS.ProcessEnv, terminal: Terminal): Promise<string> {
  const given = env[passphraseVariable];
  if (given !== undefined && given !== "") return longEnough(given);
  const first = longEnough(await askHidden("Passphrase for the backup: ", terminal));
  if ((await askHidden("Repeat the passphrase: ", terminal)) === first) return first;
  throw new Failure("The passphrases don't match. Nothing was written. Try again.", exitFailed);
}

/** Gets the passphrase of an existing backup. Rejects with `Failure`. */
export async function askPassphrase(env: NodeJS.ProcessEnv, terminal: Terminal): Promise<string> {
  return env[passphraseVariable] || askHidden("Passphrase of the backup: ", terminal);
}

function longEnough(passphrase: string): string {
  if ([...passphrase].length >= minCharacters) return passphrase;
  throw new Failure(
    `The passphrase must have at least ${minCharacters} characters, since it protects every key of the installation.`,
    exitFailed,
  );
}

/** Rejects with `Failure` if there is no terminal. */
async function askHidden(question: string, { input, output }: Terminal): Promise<string> {
  if (input.isTTY !== true) {
    throw new Failure(
      `There is no terminal to ask for the passphrase. Set it in ${passphraseVariable}, then try again.`,
      exitFailed,
    );
  }
  output.write(question);
  // Readline echoes the typed characters to its output.
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: discarded, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      reader.once("close", () => reject(new Failure("Cancelled. Nothing was changed.", interrupted)));
      reader.once("SIGINT", () => reader.close());
      reader.question("", resolve);
    });
  } finally {
    reader.close();
    output.write("\n");
  }
}
