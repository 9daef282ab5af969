/**
 * Answers to DNS questions that change, as an attacker's name server gives them. The address is in the name, with hyphens for points
 * or colons:
 *
 * - `10-9-9-9.rebound.example`, with or without words before it: the first question of a type gets a public address, and all later
 *   ones get 10.9.9.9.
 * - `10-9-9-9.both.example`: each question gets both addresses.
 */
import { isIP } from "node:net";
import { type Answer, decode, encode, type Question } from "dns-packet";

const publicAddresses = { A: "93.184.216.34", AAAA: "2606:2800::34" };

/** How often each question was asked, by type and name. */
const asked = new Map<string, number>();

/** Returns the response to a message. Null: the message is no question. */
export function answer(message: Buffer): Buffer | null {
  const query = read(message);
  const [question] = query?.questions ?? [];
  if (query === null || question === undefined) return null;
  const { id = 0, questions = [] } = query;
  return encode({ type: "response", id, questions, answers: answersTo(question) });
}

function read(message: Buffer) {
  try {
    return decode(message);
  } catch {
    return null;
  }
}

function answersTo({ name, type }: Question): Answer[] {
  const [, word = "", kind] = /(?:^|\.)([0-9a-f-]+)\.(rebound|both)\.example$/i.exec(name) ?? [];
  const address = [word.replaceAll("-", "."), word.replaceAll("-", ":")].find((text) => isIP(text) !== 0);
  const family = isIP(address ?? "") === 4 ? "A" : "AAAA";
  if (address === undefined || type !== family) return [];
  const times = asked.get(`${type} ${name}`) ?? 0;
  asked.set(`${type} ${name}`, times + 1);
  const first = publicAddresses[family];
  const addresses = kind === "both" ? [first, address] : [times === 0 ? first : address];
  return addresses.map((data) => ({ type: family, name, data, ttl: 0 }));
}
