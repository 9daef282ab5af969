import { Group, Stack, Text, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api, type Schemas } from "../../api/client.ts";
import { mayChange, useSignedIn } from "../../api/session.ts";
import { dayText } from "../../formats.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ConfirmDialog } from "../../parts/ConfirmDialog.tsx";
import { CurlButton } from "../../parts/CurlButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useApiForm } from "../../parts/useApiForm.ts";
import { texts } from "../../texts.ts";

const at = texts.certificates;
type Domain = Schemas["SiteDomain"];

const pathOf = ({ id }: Domain) => `/sites/environments/domains/${id}/certificate`;
const monospace = { input: { fontFamily: "var(--mantine-font-family-monospace)" } };

/** Facts about a domain's certificate. */
export function CertificateFacts({ certificate }: { readonly certificate: Schemas["DomainCertificate"] }) {
  const { issuer, not_after: until, names, fingerprint, source, is_served: isServed } = certificate;
  return (
    <Stack gap={4}>
      <Text size="sm">{texts.domains.issued(issuer, dayText(until))}</Text>
      <Text size="sm">{`${at.source}: ${at.sources[source]}`}</Text>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>{`${at.names}: ${names.join(", ")}`}</Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>{`${at.fingerprint}: ${fingerprint}`}</Text>
      {!isServed && <Text size="sm">{at.notServed}</Text>}
    </Stack>
  );
}

interface CustomCertificateProps {
  readonly domain: Domain;
  /** Whether the domain has an uploaded certificate. */
  readonly isCustom: boolean;
}

/** Uploads a certificate, and removes an uploaded one. Both are in force at once. */
export function CustomCertificate({ domain, isCustom }: CustomCertificateProps) {
  const client = useQueryClient();
  const [isAsking, ask] = useState(false);
  const forbidden = mayChange(useSignedIn()) ? null : texts.needsRole;
  const look = () => client.invalidateQueries({ queryKey: ["sites", "domain", domain.id] });
  const params = { path: { site_domain_id: domain.id } };
  const { form, isSending, isDone, error, submit } = useApiForm({
    initialValues: { custom_ssl_cert: "", custom_ssl_key: "" },
    send: (body) => answerOf(api.PUT("/sites/environments/domains/{site_domain_id}/certificate", { params, body })),
    done: (_, { reset }) => {
      reset();
      void look();
    },
    fields: { custom_certificate_refused: "custom_ssl_cert" },
  });
  return (
    <>
      <form onSubmit={submit} noValidate aria-label={at.upload}>
        <Stack>
          <Text size="sm">{at.uploadHint}</Text>
          <Failure error={error} />
          <Textarea
            label={at.certificate}
            autosize
            minRows={3}
            maxRows={8}
            styles={monospace}
            {...form.getInputProps("custom_ssl_cert")}
          />
          <Textarea
            label={at.key}
            description={at.keyHint}
            autosize
            minRows={3}
            maxRows={8}
            styles={monospace}
            {...form.getInputProps("custom_ssl_key")}
          />
          <Group>
            <ActionButton type="submit" variant="default" reason={forbidden} loading={isSending}>
              {at.verb}
            </ActionButton>
            <CurlButton method="PUT" path={pathOf(domain)} body={form.values} />
            {isCustom && (
              <ActionButton variant="default" reason={forbidden} onClick={() => ask(true)}>
                {at.remove}
              </ActionButton>
            )}
            {isDone && <Text role="status">{at.uploaded}</Text>}
          </Group>
        </Stack>
      </form>
      {isAsking && <Removal domain={domain} removed={look} close={() => ask(false)} />}
    </>
  );
}

interface RemovalProps {
  readonly domain: Domain;
  readonly removed: () => unknown;
  readonly close: () => void;
}

function Removal({ domain, removed, close }: RemovalProps) {
  const removal = useMutation({
    mutationFn: () => {
      const params = { path: { site_domain_id: domain.id } };
      return answerOf(api.DELETE("/sites/environments/domains/{site_domain_id}/certificate", { params }));
    },
    onSuccess: () => {
      void removed();
      close();
    },
  });
  return (
    <ConfirmDialog
      title={at.remove}
      warning={at.removeWarning}
      name={domain.name}
      verb={at.remove}
      mutation={removal}
      close={close}
      request={{ method: "DELETE", path: pathOf(domain) }}
    />
  );
}
