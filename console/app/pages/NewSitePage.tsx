import { Button, Fieldset, Group, PasswordInput, Select, Stack, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { answerOf, api } from "../api/client.ts";
import { may, useSignedIn } from "../api/session.ts";
import { regionsQuery } from "../api/sites.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { CurlButton } from "../parts/CurlButton.tsx";
import { Failure } from "../parts/Failure.tsx";
import { newPassword } from "../parts/newPassword.ts";
import { Page } from "../parts/Page.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { texts } from "../texts.ts";

const at = texts.newSite;

/** A new site with WordPress. Continues on the page of the operation. */
export function NewSitePage() {
  const session = useSignedIn();
  const company = session?.company.id ?? "";
  const regions = useQuery(regionsQuery(company));
  const navigate = useNavigate();
  const client = useQueryClient();
  const { form, isSending, error, submit } = useApiForm({
    initialValues: {
      display_name: "",
      site_title: "",
      region: "",
      wp_language: "en_US",
      admin_user: session?.user.first_name.toLowerCase() ?? "",
      admin_email: session?.user.email ?? "",
      admin_password: "",
    },
    send: (values) => answerOf(api.POST("/sites", { body: { company, install_mode: "new", ...values } })),
    done: ({ operation_id: operationId }) => {
      void client.invalidateQueries({ queryKey: ["operations"] });
      void navigate({ to: "/operations/$operationId", params: { operationId } });
    },
    fields: { site_name_taken: "display_name", unknown_region: "region", unknown_language: "wp_language" },
  });
  const first = regions.data?.[0]?.region;
  const { setFieldValue, values } = form;
  useEffect(() => {
    if (first !== undefined && values.region === "") setFieldValue("region", first);
  }, [first, values.region, setFieldValue]);
  return (
    <Page title={at.title}>
      <form onSubmit={submit} noValidate>
        <Stack maw={560}>
          <Failure error={error ?? regions.error} />
          <TextInput
            label={at.name}
            description={at.nameHint}
            autoComplete="off"
            {...form.getInputProps("display_name")}
          />
          <TextInput
            label={at.siteTitle}
            description={at.siteTitleHint}
            autoComplete="off"
            {...form.getInputProps("site_title")}
          />
          <Select
            label={at.region}
            data={regions.data?.map(({ region, name }) => ({ value: region, label: name })) ?? []}
            allowDeselect={false}
            {...form.getInputProps("region")}
          />
          <TextInput
            label={at.language}
            description={at.languageHint}
            autoComplete="off"
            {...form.getInputProps("wp_language")}
          />
          <Fieldset legend={at.administrator}>
            <Stack>
              <TextInput label={at.user} autoComplete="off" {...form.getInputProps("admin_user")} />
              <TextInput label={at.email} type="email" autoComplete="off" {...form.getInputProps("admin_email")} />
              <PasswordInput
                label={at.password}
                description={at.passwordHint}
                autoComplete="new-password"
                {...form.getInputProps("admin_password")}
              />
              <Button
                variant="default"
                style={{ alignSelf: "start" }}
                onClick={() => setFieldValue("admin_password", newPassword())}
              >
                {at.generate}
              </Button>
            </Stack>
          </Fieldset>
          <Group>
            <ActionButton
              type="submit"
              loading={isSending}
              reason={may(session, "create_sites") ? null : texts.needsRole}
            >
              {at.submit}
            </ActionButton>
            <CurlButton method="POST" path="/sites" body={{ company, install_mode: "new", ...values }} />
          </Group>
        </Stack>
      </form>
    </Page>
  );
}
