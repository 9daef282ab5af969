/** A customer's own private key. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { isCertificate, isCutOff, isKey, type PemBlock, readBlocks } from "./pem.ts";
import { Unusable } from "./unusable.ts";

const leastBits = 2_048;
/** A handshake with a longer one takes as long as a page. */
const mostBits = 8_192;
/** What browsers take. */
const curves = ["prime256v1", "secp384r1"];

/** PKCS#1, SEC1 or PKCS#8. Throws `Unusable`. */
export function readKey(text: string): KeyObject {
  const key = parse(findKey(text));
  const weakness = weaknessOf(key);
  if (weakness) throw refuse(weakness);
  return key;
}

function findKey(text: string): PemBlock {
  const blocks = readBlocks(text);
  const keys = blocks.filter(isKey);
  const [key, another] = keys;
  if (another) throw refuse("custom_ssl_key holds several keys. Give the one that belongs to the certificate.");
  if (key) return key;
  if (blocks.some(isCertificate)) {
    throw refuse(
      "custom_ssl_key holds a certificate. Give the private key here and the certificate in custom_ssl_cert.",
    );
  }
  if (isCutOff(text)) throw refuse("custom_ssl_key is cut off. Give the whole text, up to its line of END.");
  throw refuse("custom_ssl_key is not a private key in PEM. It begins with -----BEGIN PRIVATE KEY----- or the like.");
}

function parse({ label, text }: PemBlock): KeyObject {
  if (label.startsWith("ENCRYPTED") || /^Proc-Type:.*ENCRYPTED/m.test(text)) {
    throw refuse(
      "custom_ssl_key is protected by a password. Remove it with `openssl pkey -in key.pem -out open.pem`, and give that.",
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw refuse("custom_ssl_key is damaged: it can't be read. Copy the whole text again.");
  }
}

function weaknessOf(key: KeyObject): string | null {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa" && modulusLength !== undefined) {
    if (modulusLength < leastBits)
      return `custom_ssl_key has ${modulusLength} bits, which is too weak. Use ${leastBits}.`;
    return modulusLength <= mostBits ? null : `custom_ssl_key has ${modulusLength} bits. Use at most ${mostBits}.`;
  }
  if (key.asymmetricKeyType === "ec" && namedCurve !== undefined && curves.includes(namedCurve)) return null;
  return `custom_ssl_key is of a kind that browsers don't take. Use RSA with ${leastBits} bits or more, P-256 or P-384.`;
}

function refuse(reason: string): Unusable {
  return new Unusable("custom_ssl_key", reason);
}
