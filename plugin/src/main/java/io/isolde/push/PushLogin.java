// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.util.Base64;
import org.apache.cassandra.auth.AuthEvents;
import org.apache.cassandra.auth.IAuthenticator;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.exceptions.AuthenticationException;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.metrics.ClientMetrics;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;

/** Logs clients in with Cassandra's authenticator. */
final class PushLogin {
  private static final String BASIC = "Basic ";

  private static final int MAX_CAUSES = 16;

  private PushLogin() {}

  /**
   * Logs a client in. Cassandra may have to read for that, so not on an event loop.
   *
   * @param authorization the header of HTTP; null if there is none
   * @param certificates of the client; none if TLS asks for none
   * @throws RequestValidationException if it may not, or if {@link #isPassing} not now
   */
  static ClientState login(
      InetSocketAddress remote, String authorization, Certificate[] certificates) {
    ClientState client = ClientState.forExternalCalls(remote);
    IAuthenticator authenticator = DatabaseDescriptor.getAuthenticator();
    if (authenticator.requireAuthentication()) {
      try {
        authenticate(client, authenticator, authorization, certificates);
      } catch (AuthenticationException e) {
        ClientMetrics.instance.markAuthFailure();
        AuthEvents.instance.notifyAuthFailure(new QueryState(client), e);
        throw e;
      }
      ClientMetrics.instance.markAuthSuccess();
      AuthEvents.instance.notifyAuthSuccess(new QueryState(client));
    }
    client.validateLogin(); // That it may log in here: in this data centre.
    return client;
  }

  private static void authenticate(
      ClientState client,
      IAuthenticator authenticator,
      String authorization,
      Certificate[] certificates) {
    InetSocketAddress remote = client.getRemoteAddress();
    IAuthenticator.SaslNegotiator negotiator =
        certificates.length == 0
            ? authenticator.newSaslNegotiator(remote.getAddress())
            : authenticator.newSaslNegotiator(remote.getAddress(), certificates);
    negotiator.evaluateResponse(plain(authorization));
    if (!negotiator.isComplete()) {
      throw new AuthenticationException("The authenticator wants more than a name and a password.");
    }
    client.login(negotiator.getAuthenticatedUser());
  }

  /** Whether Cassandra refuses somebody only because it can't read what he may do now. */
  static boolean isPassing(Throwable refusal) {
    Throwable cause = refusal;
    for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
      if (cause instanceof RequestExecutionException) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
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
