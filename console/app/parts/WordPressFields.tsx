/** The fields of a new WordPress. */
import { Button, Checkbox, Fieldset, PasswordInput, Select, Stack, TextInput } from "@mantine/core";
import type { Schemas } from "../api/client.ts";
import type { SignedIn } from "../api/session.ts";
import { texts } from "../texts.ts";
import { newPassword } from "./newPassword.ts";

const at = texts.newSite;
const words = texts.wordpress;
const networks = ["none", "subdirectory", "subdomain"] as const;
const plugins = ["woocommerce", "wordpressseo", "wordpress_plugin_edd"] as const;

/** The values of the fields. A type, because a form's values need an index. */
export type NewWordPress = {
  readonly site_title: string;
  readonly wp_language: string;
  readonly admin_user: string;
  readonly admin_email: string;
  readonly admin_password: string;
  readonly network: string;
  readonly woocommerce: boolean;
  readonly wordpressseo: boolean;
  readonly wordpress_plugin_edd: boolean;
};

/** The administrator is the person who has signed in. */
export const newWordPress = (session: SignedIn | null): NewWordPress => ({
  site_title: "",
  wp_language: "en_US",
  admin_user: session?.user.first_name.toLowerCase() ?? "",
  admin_email: session?.user.email ?? "",
  admin_password: "",
  network: "none",
  woocommerce: false,
  wordpressseo: false,
  wordpress_plugin_edd: false,
});

type Fields = Omit<Schemas["EnvironmentCreate"], "display_name" | "is_premium">;

/** The fields as the API takes them. What is not chosen is left out. */
export function wordPressBody(values: NewWordPress): Fields {
  const { site_title, wp_language, admin_user, admin_email, admin_password, network } = values;
  return {
    site_title,
    wp_language,
    admin_user,
    admin_email,
    admin_password,
    ...(network === "subdirectory" && { is_multisite: true }),
    ...(network === "subdomain" && { is_subdomain_multisite: true }),
    ...(values.woocommerce && { woocommerce: true }),
    ...(values.wordpressseo && { wordpressseo: true }),
    ...(values.wordpress_plugin_edd && { wordpress_plugin_edd: true }),
  };
}

/** Which field a refusal is about. */
export const wordPressFaults = {
  unknown_language: "wp_language",
  multisite_unsupported: "network",
  multisite_contradiction: "network",
} as const;

interface WordPressFieldsProps {
  /** Of the form, whose values have those of `NewWordPress`. */
  readonly inputOf: (name: keyof NewWordPress, options?: { type: "checkbox" }) => object;
  readonly setPassword: (password: string) => void;
}

export function WordPressFields({ inputOf, setPassword }: WordPressFieldsProps) {
  return (
    <>
      <TextInput label={words.title} description={words.titleHint} autoComplete="off" {...inputOf("site_title")} />
      <TextInput label={at.language} description={at.languageHint} autoComplete="off" {...inputOf("wp_language")} />
      <Fieldset legend={at.administrator}>
        <Stack>
          <TextInput label={at.user} autoComplete="off" {...inputOf("admin_user")} />
          <TextInput label={at.email} type="email" autoComplete="off" {...inputOf("admin_email")} />
          <PasswordInput
            label={at.password}
            description={at.passwordHint}
            autoComplete="new-password"
            {...inputOf("admin_password")}
          />
          <Button variant="default" style={{ alignSelf: "start" }} onClick={() => setPassword(newPassword())}>
            {at.generate}
          </Button>
        </Stack>
      </Fieldset>
      <Select
        label={words.network}
        allowDeselect={false}
        data={networks.map((value) => ({ value, label: words.networks[value] }))}
        {...inputOf("network")}
      />
      <Fieldset legend={words.plugins}>
        <Stack gap="xs">
          {plugins.map((name) => (
            <Checkbox key={name} label={words[name]} {...inputOf(name, { type: "checkbox" })} />
          ))}
        </Stack>
      </Fieldset>
    </>
  );
}
