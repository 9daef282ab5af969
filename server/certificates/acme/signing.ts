/** Signed requests (RFC 8555, section 6.2) and key authorizations. All keys are P-256. */
import { createHash, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Generates a key for an account or a certificate (PEM, PKCS#8). */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

interface UnsignedRequest {
  readonly key: KeyObject;
  /** The account's URL; null sends the public key instead, to create the account. */
  readonly account: string | null;
  readonly nonce: string;
  readonly url: string;
  /** Null to read a resource (POST-as-GET). */
  readonly payload: object | null;
}

export function signRequest({ key, account, nonce, url, payload }: UnsignedRequest): string {
  const identity = account === null ? { jwk: publicJwk(key) } : { kid: account };
  const head = encode(JSON.stringify({ alg: "ES256", ...identity, nonce, url }));
  const body = payload === null ? "" : encode(JSON.stringify(payload));
  const signature = sign("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" });
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString("base64url") });
}

/** An external account key: authorities that only serve customers issue one to each (section 7.3.4). */
export interface AccountBinding {
  readonly keyId: string;
  readonly key: Buffer;
}

/** Binds the account of `key` to the customer. `url` is the authority's `newAccount`. */
export function bindAccount(key: KeyObject, url: string, binding: AccountBinding): object {
  const head = encode(JSON.stringify({ alg: "HS256", kid: binding.keyId, url }));
  const payload = encode(JSON.stringify(publicJwk(key)));
  const signature = createHmac("sha256", binding.key).update(`${head}.${payload}`).digest("base64url");
  return { protected: head, payload, signature };
}

/** The key authorization for a challenge's token (section 8.1). */
export function keyAuthorization(token: string, key: KeyObject): string {
  // RFC 7638: members in this order, without spaces.
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
