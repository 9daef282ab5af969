import { Checkbox, Group, Select, Stack, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { answerOf, api } from "../api/client.ts";
import { may, useSignedIn } from "../api/session.ts";
import { regionsQuery } from "../api/sites.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { CurlButton } from "../parts/CurlButton.tsx";
import { Failure } from "../parts/Failure.tsx";
import { Page } from "../parts/Page.tsx";
import { useApiForm } from "../parts/useApiForm.ts";
import { newWordPress, WordPressFields, wordPressBody, wordPressFaults } from "../parts/WordPressFields.tsx";
import { texts } from "../texts.ts";

const at = texts.newSite;

/** A new site, usually with WordPress. Continues on the page of the operation. */
export function NewSitePage() {
  const session = useSignedIn();
  const company = session?.company.id ?? "";
  const regions = useQuery(regionsQuery(company));
  const navigate = useNavigate();
  const client = useQueryClient();
  const initialValues = { display_name: "", region: "", isPlain: false, ...newWordPress(session) };
  const plainBody = ({ display_name, region }: typeof initialValues) => ({ company, display_name, region });
  const bodyOf = (values: typeof initialValues) => ({
    ...plainBody(values),
    install_mode: "new" as const,
    ...wordPressBody(values),
  });
  const { form, isSending, error, submit } = useApiForm({
    initialValues,
    send: (values) =>
      values.isPlain
        ? answerOf(api.POST("/sites/plain", { body: plainBody(values) }))
        : answerOf(api.POST("/sites", { body: bodyOf(values) })),
    done: ({ operation_id: operationId }) => {
      void client.invalidateQueries({ queryKey: ["operations"] });
      void navigate({ to: "/operations/$operationId", params: { operationId } });
    },
    fields: { ...wordPressFaults, site_name_taken: "display_name", unknown_region: "region" },
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
          <Failure error={regions.error} retry={() => void regions.refetch()} />
          <Failure error={error} />
          <TextInput
            label={at.name}
            description={at.nameHint}
            autoComplete="off"
            {...form.getInputProps("display_name")}
          />
          <Select
            label={at.region}
            data={regions.data?.map(({ region, name }) => ({ value: region, label: name })) ?? []}
            allowDeselect={false}
            {...form.getInputProps("region")}
          />
          <Checkbox label={texts.wordpress.isPlain} {...form.getInputProps("isPlain", { type: "checkbox" })} />
          {!values.isPlain && (
            <WordPressFields
              inputOf={(name, options) => form.getInputProps(name, options)}
              setPassword={(password) => setFieldValue("admin_password", password)}
            />
          )}
          <Group>
            <ActionButton
              type="submit"
              loading={isSending}
              reason={may(session, "create_sites") ? null : texts.needsRole}
            >
              {at.submit}
            </ActionButton>
            <CurlButton
              method="POST"
              path={values.isPlain ? "/sites/plain" : "/sites"}
              body={values.isPlain ? plainBody(values) : bodyOf(values)}
            />
          </Group>
        </Stack>
      </form>
    </Page>
  );
}
