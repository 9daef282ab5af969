/** Reads and checks a customer's own private key. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { InvalidCustomCertificate } from "./customCertificateProblem.ts";
import { isCertificate, isKey, isTruncated, type PemBlock, readBlocks } from "./pem.ts";

const minBits = 2_048;
/** A handshake with a longer key takes as long as a page. */
const maxBits = 8_192;
/** The curves that browsers accept. */
const curves = ["prime256v1", "secp384r1"];

/** Accepts PKCS#1, SEC1 and PKCS#8. Throws `InvalidCustomCertificate`. */
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
  if (another) throw refuse("custom_ssl_key contains several keys. Send only the key that belongs to the certificate.");
  if (key) return key;
  if (blocks.some(isCertificate)) {
    throw refuse(
      "custom_ssl_key contains a certificate. Send the private key here and the certificate in custom_ssl_cert.",
    );
  }
  if (isTruncated(text)) throw refuse("custom_ssl_key is truncated. Send the whole text, up to the END line.");
  throw refuse("custom_ssl_key is not a PEM private key, which starts with -----BEGIN PRIVATE KEY----- or similar.");
}

function parse({ label, text }: PemBlock): KeyObject {
  if (label.startsWith("ENCRYPTED") || /^Proc-Type:.*ENCRYPTED/m.test(text)) {
    throw refuse(
      "custom_ssl_key is password-protected. Run `openssl pkey -in key.pem -out open.pem`, and send the contents of open.pem.",
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw refuse("custom_ssl_key can't be read. Copy the whole text again.");
  }
}

function weaknessOf(key: KeyObject): string | null {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa" && modulusLength !== undefined) {
    if (modulusLength < minBits) return `custom_ssl_key has ${modulusLength} bits, which is too weak. Use ${minBits}.`;
    return modulusLength <= maxBits ? null : `custom_ssl_key has ${modulusLength} bits. Use at most ${maxBits}.`;
  }
  if (key.asymmetricKeyType === "ec" && namedCurve !== undefined && curves.includes(namedCurve)) return null;
  return `custom_ssl_key has a type that browsers don't accept. Use RSA with ${minBits} bits or more, P-256 or P-384.`;
}

function refuse(reason: string): InvalidCustomCertificate {
  return new InvalidCustomCertificate("custom_ssl_key", reason);
}
