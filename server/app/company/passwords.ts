/** Hashes the passwords of Sitewright's users: scrypt, each with its own salt. */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const length = 32;

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, length, cost, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** Returns `scrypt$<N>$<r>$<p>$<salt>$<key>`, so that the cost can be raised later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64"), key.toString("base64")].join("$");
}

/** Null: the hash of nobody's password, for which the answer is no, after the same time. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const [, , , , salt = "", key = ""] = (hash ?? "").split("$");
  const expected = Buffer.from(key, "base64");
  const given = await derive(password, Buffer.from(salt, "base64"));
  return expected.length === given.length && timingSafeEqual(expected, given);
}
