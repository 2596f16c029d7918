// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.util.Base64;
import org.apache.cassandra.auth.IAuthenticator;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.exceptions.AuthenticationException;
import org.apache.cassandra.service.ClientState;

/** Logs clients in with Cassandra's authenticator. */
final class PushLogin {
  private static final String BASIC = "Basic ";

  private PushLogin() {}

  /**
   * Logs a client in. Cassandra may have to read for that, so not on an event loop.
   *
   * @param authorization the header of HTTP; null if there is none
   * @param certificates of the client; none if TLS asks for none
   * @throws AuthenticationException if it may not
   */
  static ClientState login(
      InetSocketAddress remote, String authorization, Certificate[] certificates) {
    ClientState client = ClientState.forExternalCalls(remote);
    IAuthenticator authenticator = DatabaseDescriptor.getAuthenticator();
    if (!authenticator.requireAuthentication()) {
      return client;
    }
    IAuthenticator.SaslNegotiator negotiator =
        certificates.length == 0
            ? authenticator.newSaslNegotiator(remote.getAddress())
            : authenticator.newSaslNegotiator(remote.getAddress(), certificates);
    negotiator.evaluateResponse(plain(authorization));
    if (!negotiator.isComplete()) {
      throw new AuthenticationException("The authenticator wants more than a name and a password.");
    }
    client.login(negotiator.getAuthenticatedUser());
    return client;
  }

  /** As SASL's mechanism PLAIN has them: a zero before the name, and one before the password. */
  private static byte[] plain(String authorization) {
    if (authorization == null || !authorization.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
      throw new AuthenticationException("A name and a password are needed, as HTTP Basic.");
    }
    String both;
    try {
      byte[] decoded = Base64.getDecoder().decode(authorization.substring(BASIC.length()).strip());
      both = new String(decoded, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new AuthenticationException("The header Authorization is not Base64.");
    }
    int colon = both.indexOf(':');
    if (colon < 0 || both.indexOf('\0') >= 0) {
      throw new AuthenticationException("The header Authorization has no name and password.");
    }
    String response = "\0" + both.substring(0, colon) + "\0" + both.substring(colon + 1);
    return response.getBytes(StandardCharsets.UTF_8);
  }
}
