import { z } from "zod";
import { FORM_NAMES } from "../submission/form-request.ts";
import { RESPONSE_FORMS } from "./merritt/elements.ts";

const text = z.string().optional();

/** Merritt's form for the documentation: what it does not know is taken and passed over, `DC.*` stands for fifteen fields. */
export const PosterFormSchema = z
  .looseObject({
    [FORM_NAMES.profile]: z.string().describe("name of the collection's profile"),
    [FORM_NAMES.submitter]: text,
    [FORM_NAMES.type]: text.describe("of the payload; found from its content if absent"),
    [FORM_NAMES.payload_name]: text.describe("file name of the payload"),
    [FORM_NAMES.payload_size]: text.describe("in bytes, checked"),
    [FORM_NAMES.digest_type]: text,
    [FORM_NAMES.digest_value]: text,
    [FORM_NAMES.title]: text,
    [FORM_NAMES.creator]: text,
    [FORM_NAMES.date]: text,
    [FORM_NAMES.primary_id]: text.describe("an ARK"),
    [FORM_NAMES.local_id]: text.describe("several are separated by ;"),
    [FORM_NAMES.notification]: text.describe("mail addresses"),
    [FORM_NAMES.notification_format]: text,
    [FORM_NAMES.note]: text,
    [FORM_NAMES.response_form]: text.describe(RESPONSE_FORMS.join(", ")),
  })
  .meta({ id: "PosterForm" });
