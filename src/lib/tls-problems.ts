/** Codes of OpenSSL for a certificate whose authority is not known here. */
const UNTRUSTED =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|CERT_UNTRUSTED)$/;

/** Why no TLS connection was made, and how an operator can fix it. Undefined for a code that is not about TLS. */
export function tlsProblem(code: string): string | undefined {
  if (UNTRUSTED.test(code))
    return "its certificate is not trusted; if it is of your own authority, set NODE_EXTRA_CA_CERTS, in the environment and not in .env, to a file with the certificate of that authority";
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "CERT_NOT_YET_VALID") return "its certificate is not valid yet; is the clock right?";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another name";
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return "it does not speak TLS on this port";
  return undefined;
}
