/** The passphrase of a backup: from the environment, or typed without echo. Never an argument, which other users can see. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { Failure, failed } from "./failure.ts";

export const passphraseVariable = "SITEWRIGHT_BACKUP_PASSPHRASE";
const leastCharacters = 12;
const interrupted = 130;

export interface Typist {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where questions are written. */
  readonly output: NodeJS.WritableStream;
}

/** Of a backup that is to be made: long enough, and typed twice. Throws `Failure`. */
export async function choosePassphrase(env: NodeJS.ProcessEnv, typist: Typist): Promise<string> {
  const given = env[passphraseVariable];
  if (given !== undefined && given !== "") return longEnough(given);
  const first = longEnough(await askHidden("Passphrase for the backup: ", typist));
  if ((await askHidden("The same again: ", typist)) === first) return first;
  throw new Failure("The two were not the same. Nothing was written: try again.", failed);
}

/** Of a backup that is there. Throws `Failure`. */
export async function tellPassphrase(env: NodeJS.ProcessEnv, typist: Typist): Promise<string> {
  return env[passphraseVariable] || askHidden("Passphrase of the backup: ", typist);
}

function longEnough(passphrase: string): string {
  if ([...passphrase].length >= leastCharacters) return passphrase;
  throw new Failure(
    `The passphrase must have at least ${leastCharacters} characters: whoever guesses it has every key of the installation.`,
    failed,
  );
}

/** Only on a terminal. */
async function askHidden(question: string, { input, output }: Typist): Promise<string> {
  if (input.isTTY !== true) {
    throw new Failure(
      `There is no terminal to ask for the passphrase. Set ${passphraseVariable} to it, then repeat.`,
      failed,
    );
  }
  output.write(question);
  // What is typed would be shown there.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: nowhere, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      reader.once("close", () => reject(new Failure("Broken off. Nothing was changed.", interrupted)));
      reader.once("SIGINT", () => reader.close());
      reader.question("", resolve);
    });
  } finally {
    reader.close();
    output.write("\n");
  }
}
