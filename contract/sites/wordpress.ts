/** The fields of a new WordPress, in every endpoint that installs one. */
import { Type } from "typebox";
import { pattern } from "../schema.ts";

/** The user names that WordPress allows in its strict mode. WordPress treats `0` as empty, here and below. */
const userNamePattern = pattern(
  "^(?!0$)[A-Za-z0-9_.@-]+(?: [A-Za-z0-9_.@-]+)*$",
  "must consist of letters, digits, _, ., -, @ and single spaces inside, and must not be just 0",
);

const linePattern = pattern(
  "^(?!0$)(?=.*\\S)[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$",
  "must be one line of text without control characters, not only spaces, and not just 0",
);

function wordpressLine(maxLength: number, description: string, example: string) {
  return Type.String({ minLength: 1, maxLength, pattern: linePattern, description, examples: [example] });
}

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
/** E-mail addresses that WordPress accepts: ASCII, at least 6 characters, with a domain of at least two labels. */
const emailPattern = pattern(
  `^(?=.{6})${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`,
  "must be an e-mail address such as ada@example.com",
);

/** An e-mail address that WordPress accepts. */
export function emailAddress(description: string) {
  return Type.String({
    maxLength: 100,
    format: "email",
    pattern: emailPattern,
    description,
    examples: ["ada@example.com"],
  });
}

const optionalFlag = (description: string) => Type.Optional(Type.Boolean({ description }));
const installs = (name: string) =>
  `Install and activate ${name}. If it is not available, the creation fails and nothing remains.`;

export const wordpressFields = {
  admin_email: emailAddress("E-mail address of the WordPress administrator."),
  admin_password: wordpressLine(
    255,
    "Password of the WordPress administrator. Sitewright never stores, logs or returns it.",
    "correct horse battery staple",
  ),
  admin_user: Type.String({
    minLength: 1,
    maxLength: 60,
    pattern: userNamePattern,
    description:
      "Login name of the WordPress administrator: letters, digits, `_`, `.`, `-`, `@` and single spaces inside.",
    examples: ["ada"],
  }),
  site_title: wordpressLine(
    200,
    "Title of the site. It is stored exactly as sent; themes may display it with typographic quotes and dashes.",
    "Notes by Ada",
  ),
  wp_language: Type.String({
    minLength: 2,
    maxLength: 30,
    description: "Locale of WordPress, such as `en_US`. The available ones depend on the installation.",
    examples: ["en_US"],
  }),
  is_multisite: optionalFlag("Install WordPress as a network with subdirectories."),
  is_subdomain_multisite: optionalFlag("Install WordPress as a network with subdomains."),
  woocommerce: optionalFlag(installs("WooCommerce")),
  wordpressseo: optionalFlag(installs("Yoast SEO")),
  wordpress_plugin_edd: optionalFlag(installs("Easy Digital Downloads")),
};
