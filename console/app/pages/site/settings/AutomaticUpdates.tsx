import { Chip, Group, Input, NumberInput, Switch, Textarea, TextInput } from "@mantine/core";
import { answerOf, api } from "../../../api/client.ts";
import { linesOf } from "../../../api/lines.ts";
import type { Settings } from "../../../api/settings.ts";
import { useApiForm } from "../../../parts/useApiForm.ts";
import { texts } from "../../../texts.ts";
import { SettingForm } from "./SettingForm.tsx";

const at = texts.settings;
const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

interface AutomaticUpdatesProps {
  readonly environmentId: string;
  readonly updates: Settings["automatic"];
}

/** Whether plugins and themes are updated automatically, and when. */
export function AutomaticUpdates({ environmentId, updates }: AutomaticUpdatesProps) {
  const initialValues = {
    plugins: updates.plugins,
    themes: updates.themes,
    vulnerable_within_hours: numberOrEmpty(updates.vulnerable_within_hours),
    except: updates.except.join("\n"),
    days: [...updates.window.days],
    start: updates.window.start,
    hours: numberOrEmpty(updates.window.hours),
    time_zone: updates.window.time_zone,
  };
  const bodyOf = (values: typeof initialValues) => ({
    plugins: values.plugins,
    themes: values.themes,
    vulnerable_within_hours: values.vulnerable_within_hours === "" ? null : Number(values.vulnerable_within_hours),
    except: linesOf(values.except),
    window: {
      days: values.days,
      start: values.start,
      hours: Number(values.hours),
      time_zone: values.time_zone,
    },
  });
  const { form, isSending, isDone, error, submit } = useApiForm({
    initialValues,
    send: (values) => {
      const params = { path: { env_id: environmentId } };
      return answerOf(api.PUT("/sites/environments/{env_id}/automatic-updates", { params, body: bodyOf(values) }));
    },
  });
  return (
    <SettingForm
      title={at.automatic}
      submit={submit}
      isSending={isSending}
      isSaved={isDone}
      error={error}
      request={{
        method: "PUT",
        path: `/sites/environments/${environmentId}/automatic-updates`,
        body: bodyOf(form.values),
      }}
    >
      <Switch label={at.plugins} {...form.getInputProps("plugins", { type: "checkbox" })} />
      <Switch label={at.themes} {...form.getInputProps("themes", { type: "checkbox" })} />
      <NumberInput
        label={at.vulnerable}
        description={at.vulnerableHint}
        {...form.getInputProps("vulnerable_within_hours")}
      />
      <Input.Wrapper label={at.days} labelElement="div" error={form.errors.days}>
        <Chip.Group
          multiple
          value={form.values.days}
          onChange={(chosen) =>
            form.setFieldValue(
              "days",
              days.filter((day) => chosen.includes(day)),
            )
          }
        >
          <Group gap="xs" mt={4}>
            {days.map((day) => (
              <Chip key={day} value={day} size="xs">
                {at.dayNames[day]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <Group grow align="start">
        <TextInput label={at.start} type="time" {...form.getInputProps("start")} />
        <NumberInput label={at.hours} {...form.getInputProps("hours")} />
        <TextInput label={at.timeZone} autoComplete="off" {...form.getInputProps("time_zone")} />
      </Group>
      <Textarea
        label={at.except}
        description={at.exceptHint}
        autosize
        minRows={1}
        maxRows={8}
        {...form.getInputProps("except")}
      />
    </SettingForm>
  );
}

const numberOrEmpty = (value: number | null): number | string => value ?? "";
