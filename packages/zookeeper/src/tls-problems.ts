/** What people need to read when a connection fails: which side objects, to what. */

const UNKNOWN_CA = "no CA of ours has signed the server's certificate";

const OUR_OBJECTIONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CA,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  CERT_SIGNATURE_FAILURE: UNKNOWN_CA,
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name",
  ERR_SSL_WRONG_VERSION_NUMBER: "the server does not speak TLS on this port",
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: "our certificate and our key do not belong together",
};

/** OpenSSL's names of alerts that the server sends about what we showed it, or did not. */
const ABOUT_OUR_CERTIFICATE = /ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA|HANDSHAKE_FAILURE|ACCESS_DENIED)$/;

export function connectionProblem(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const ours = OUR_OBJECTIONS[code];
  if (ours !== undefined) return `TLS: ${ours} (${code}: ${error.message})`;
  if (ABOUT_OUR_CERTIFICATE.test(code))
    return `TLS: the server does not accept our certificate, or wants one (${code})`;
  return code.startsWith("ERR_SSL") || code.startsWith("ERR_OSSL") ? `TLS: ${error.message}` : error.message;
}
