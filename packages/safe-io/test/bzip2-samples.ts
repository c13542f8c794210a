/** Output of bzip2 1.0.8. */
export const BZIP2_SAMPLES: Readonly<Record<string, { readonly packed: string; readonly text: string }>> = {
  hello: { packed: "QlpoOTFBWSZTWeW18wkAAARRAAAQQAACRKAAIbUYDAKQacKjC7kinChIctr5hIA=", text: "hello hello hello\n" },
  empty: { packed: "QlpoORdyRThQkAAAAAA=", text: "" },
  "two streams": {
    packed:
      "QlpoMTFBWSZTWRPK/Y0AAADBgAAQASAcACAAIYAMAycu4u5IpwoSAnlfsaBCWmg5MUFZJlNZltpZzwAAA0GAABAOAYgAIAAxDAENManOAHi7kinChIS20s54",
    text: "first\nsecond\n",
  },
  "a run": { packed: "QlpoMTFBWSZTWTv0i5YAAANRAIAQACAgAAAIIAAhIaDNNLgXBxdyRThQkDv0i5Y=", text: `${"a".repeat(300)}\n` },
};
