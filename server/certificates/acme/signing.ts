/** Signed requests (RFC 8555, section 6.2) and what a key says about itself. P-256 throughout. */
import { createHash, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A key for an account or a certificate, PEM, PKCS#8. */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

export interface Signed {
  readonly key: KeyObject;
  /** The account's URL; null while it has none, and the key itself goes along. */
  readonly account: string | null;
  readonly nonce: string;
  readonly url: string;
  /** Null: there is nothing to say, something is only to be read. */
  readonly payload: object | null;
}

export function signRequest({ key, account, nonce, url, payload }: Signed): string {
  const who = account === null ? { jwk: publicJwk(key) } : { kid: account };
  const head = encode(JSON.stringify({ alg: "ES256", ...who, nonce, url }));
  const body = payload === null ? "" : encode(JSON.stringify(payload));
  const signature = sign("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" });
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString("base64url") });
}

/** A key that an authority has given to its customer, for accounts that it makes for nobody else (section 7.3.4). */
export interface AccountBinding {
  readonly keyId: string;
  readonly key: Buffer;
}

/** Says that the account of this key is the customer's. `url`: where accounts are made. */
export function bindAccount(key: KeyObject, url: string, binding: AccountBinding): object {
  const head = encode(JSON.stringify({ alg: "HS256", kid: binding.keyId, url }));
  const payload = encode(JSON.stringify(publicJwk(key)));
  const signature = createHmac("sha256", binding.key).update(`${head}.${payload}`).digest("base64url");
  return { protected: head, payload, signature };
}

/** What is to be shown at a challenge's token (section 8.1). */
export function keyAuthorization(token: string, key: KeyObject): string {
  // The members in this order, without spaces: RFC 7638.
  const thumbprint = createHash("sha256")
    .update(JSON.stringify(publicJwk(key)))
    .digest("base64url");
  return `${token}.${thumbprint}`;
}

function publicJwk(key: KeyObject): object {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: "jwk" });
  return { crv, kty, x, y };
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}
