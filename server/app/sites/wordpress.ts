/** What a new WordPress may be: checked before anything begins. */
import { passwordDigest } from "@sitewright/runtimes/password.ts";
import type { MultisiteKind } from "@sitewright/runtimes/runtime.ts";
import type { NewWordPress } from "@sitewright/server/operations/sites/createEnvironment.ts";
import type { NewPlugin } from "@sitewright/server/operations/steps/addPlugins.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

/** The fields of a request that say what WordPress is installed with. */
export interface WordPressWish {
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

export interface WordPressPlan {
  /** For the operation's input: nothing secret. */
  readonly content: NewWordPress;
  readonly passwordDigest: string;
}

/** Throws `Refused` if this installation can't install such a WordPress. */
export function planWordPress(context: Context, wish: WordPressWish): WordPressPlan {
  const plugins = choosePlugins(context, wish);
  requireLanguage(context, wish.wp_language);
  return {
    content: {
      kind: "wordpress",
      title: wish.site_title,
      adminUser: wish.admin_user,
      adminEmail: wish.admin_email,
      locale: wish.wp_language,
      multisite: chooseMultisite(context, wish),
      plugins,
    },
    passwordDigest: passwordDigest(wish.admin_password),
  };
}

/** What each of the flags stands for at WordPress.org. */
const flaggedPlugins = {
  woocommerce: { slug: "woocommerce", file: "woocommerce/woocommerce.php" },
  wordpressseo: { slug: "wordpress-seo", file: "wordpress-seo/wp-seo.php" },
  wordpress_plugin_edd: { slug: "easy-digital-downloads", file: "easy-digital-downloads/easy-digital-downloads.php" },
} as const;
const flags = ["woocommerce", "wordpressseo", "wordpress_plugin_edd"] as const;

function choosePlugins({ packageSource }: Context, wish: WordPressWish): readonly NewPlugin[] {
  const fields = flags.filter((flag) => wish[flag]);
  if (fields.length === 0 || packageSource !== null) return fields.map((flag) => flaggedPlugins[flag]);
  throw new Refused(
    "no_package_source",
    `This installation has no package source to install plugins from: send ${fields.join(", ")} as false or leave it out.`,
    { fields },
  );
}

function requireLanguage({ capabilities }: Context, locale: string): void {
  if (capabilities.locales.includes(locale)) return;
  throw new Refused(
    "unknown_language",
    `WordPress can't be installed in "${locale}" here; offered: ${capabilities.locales.join(", ")}.`,
    { wp_language: locale, offered: capabilities.locales },
  );
}

function chooseMultisite({ capabilities }: Context, wish: WordPressWish): MultisiteKind | null {
  if (wish.is_subdomain_multisite && wish.is_multisite === false) {
    throw new Refused(
      "multisite_contradiction",
      "A subdomain multisite is a multisite: is_subdomain_multisite can't be true while is_multisite is false.",
    );
  }
  const kind = wish.is_subdomain_multisite ? "subdomain" : wish.is_multisite ? "subdirectory" : null;
  if (kind === null || capabilities.multisite.includes(kind)) return kind;
  throw new Refused("multisite_unsupported", `This installation can't run a ${kind} multisite.`, { kind });
}
