// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * How a client reaches the ports on which nodes push changes; see {@link Isolde#withPush}.
 * Immutable. All clients with the same object share its threads.
 */
public final class PushOptions {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  private final String authorization;
  private final boolean isTlsWanted;
  private final HttpClient http;

  private PushOptions(String authorization, boolean isTlsWanted, HttpClient http) {
    this.authorization = authorization;
    this.isTlsWanted = isTlsWanted;
    this.http = http;
  }

  /** Without a name, a password, or certificates of one's own. */
  public static PushOptions defaults() {
    return new PushOptions(null, false, builder().build());
  }

  private static HttpClient.Builder builder() {
    return HttpClient.newBuilder()
        .connectTimeout(CONNECT_TIMEOUT)
        .version(HttpClient.Version.HTTP_1_1);
  }

  /** With what a driver logs in with. */
  public PushOptions withCredentials(String user, String password) {
    byte[] both = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    return new PushOptions("Basic " + Base64.getEncoder().encodeToString(both), isTlsWanted, http);
  }

  /** With TLS everywhere, certificates that are trusted, and perhaps an own one. */
  public PushOptions withSslContext(SSLContext context) {
    return new PushOptions(authorization, true, builder().sslContext(context).build());
  }

  Optional<String> authorization() {
    return Optional.ofNullable(authorization);
  }

  /** Whether to use TLS also where a node would do without. */
  boolean isTlsWanted() {
    return isTlsWanted;
  }

  HttpClient http() {
    return http;
  }
}
