/**
 * The passwords that people may choose. zxcvbn estimates how many guesses a password withstands, from lists of common passwords,
 * among them those of breaches, and from patterns such as dates and rows of keys.
 */
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import * as common from "@zxcvbn-ts/language-common";
import { Refused } from "../failures.ts";

/** Of 0 to 4. 3: it withstands 10^8 guesses, which scrypt makes slow. */
const leastScore = 3;

let checker: ZxcvbnFactory | undefined;

/** Built for the first password: the lists take some memory. */
function zxcvbn(): ZxcvbnFactory {
  checker ??= new ZxcvbnFactory({ dictionary: { ...common.dictionary }, graphs: common.adjacencyGraphs });
  return checker;
}

/** Characters. The estimate takes long for longer ones, and their beginning decides. */
const maxChecked = 64;

/** Throws `Refused` if the password is easy to guess. `known` are words that attackers know, such as the user's name. */
export function requireStrongPassword(password: string, known: readonly string[]): void {
  const { score } = zxcvbn().check(password.slice(0, maxChecked), [...known, "sitewright", "wordpress"]);
  if (score >= leastScore) return;
  throw new Refused(
    "password_too_weak",
    "This password is easy to guess. Choose several words that don't belong together, or let a password manager choose it.",
  );
}
