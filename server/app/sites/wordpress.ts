/** Checks the options of a new WordPress before anything is created. */
import { passwordDigest } from "@sitewright/runtimes/password.ts";
import type { Capabilities, MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import type { NewWordPress } from "@sitewright/server/operations/sites/createEnvironment.ts";
import type { NewPlugin } from "@sitewright/server/operations/steps/addPlugins.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

/** The fields of a request with which WordPress is installed. */
interface WordPressOptions {
  readonly site_title: string;
  readonly admin_user: string;
  readonly admin_email: string;
  readonly admin_password: string;
  readonly wp_language: string;
  readonly is_multisite?: boolean;
  readonly is_subdomain_multisite?: boolean;
  readonly woocommerce?: boolean;
  readonly wordpressseo?: boolean;
  readonly wordpress_plugin_edd?: boolean;
}

interface WordPressPlan {
  /** For the operation's input; contains no secrets. */
  readonly content: NewWordPress;
  readonly passwordDigest: string;
}

/** Throws `Refused` if a runtime with these capabilities, or this installation, can't install such a WordPress. */
export function planWordPress(context: Context, capabilities: Capabilities, options: WordPressOptions): WordPressPlan {
  const plugins = choosePlugins(context, options);
  requireLanguage(capabilities, options.wp_language);
  return {
    content: {
      kind: "wordpress",
      title: options.site_title,
      adminUser: options.admin_user,
      adminEmail: options.admin_email,
      locale: options.wp_language,
      multisite: chooseMultisite(capabilities, options),
      plugins,
    },
    passwordDigest: passwordDigest(options.admin_password),
  };
}

/** The plugin at WordPress.org that each flag stands for. */
const flaggedPlugins = {
  woocommerce: { slug: "woocommerce", file: "woocommerce/woocommerce.php" },
  wordpressseo: { slug: "wordpress-seo", file: "wordpress-seo/wp-seo.php" },
  wordpress_plugin_edd: { slug: "easy-digital-downloads", file: "easy-digital-downloads/easy-digital-downloads.php" },
} as const;
const flags = ["woocommerce", "wordpressseo", "wordpress_plugin_edd"] as const;

function choosePlugins({ packageSource }: Context, options: WordPressOptions): readonly NewPlugin[] {
  const fields = flags.filter((flag) => options[flag]);
  if (fields.length === 0 || packageSource !== null) return fields.map((flag) => flaggedPlugins[flag]);
  throw new Refused(
    "no_package_source",
    `This installation has no package source to install plugins from. Set ${fields.join(", ")} to false, or leave it out.`,
    { fields },
  );
}

function requireLanguage({ locales }: Capabilities, locale: string): void {
  if (locales.includes(locale)) return;
  throw new Refused(
    "unknown_language",
    `WordPress is not available in "${locale}". Available languages: ${locales.join(", ")}.`,
    { wp_language: locale, offered: locales },
  );
}

function chooseMultisite({ multisite }: Capabilities, options: WordPressOptions): MultisiteKind | null {
  if (options.is_subdomain_multisite && options.is_multisite === false) {
    throw new Refused("multisite_contradiction", "is_subdomain_multisite can't be true while is_multisite is false.");
  }
  const kind = options.is_subdomain_multisite ? "subdomain" : options.is_multisite ? "subdirectory" : null;
  if (kind === null || multisite.includes(kind)) return kind;
  throw new Refused("multisite_unsupported", `This installation can't run a ${kind} multisite.`, { kind });
}
