/** Without characters that look alike. */
const characters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const length = 24;

/** A random password. The few values that would make some characters likelier are left out. */
export function newPassword(): string {
  const limit = 256 - (256 % characters.length);
  let password = "";
  while (password.length < length) {
    const [value = limit] = crypto.getRandomValues(new Uint8Array(1));
    if (value < limit) password += characters.charAt(value % characters.length);
  }
  return password;
}
