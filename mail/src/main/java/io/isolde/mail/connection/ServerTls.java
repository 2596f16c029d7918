// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.apache.james.protocols.api.ClientAuth;
import org.apache.james.protocols.netty.Encryption;

/** TLS after STARTTLS or STLS, as James wants to see it. */
public final class ServerTls implements Encryption {
  private static final int MAX_HANDSHAKE_SECONDS = 30;
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final SSLContext context;
  private final Executor workers;

  /**
   * TLS with the certificate of a context.
   *
   * @param workers compute the signatures and keys of handshakes
   */
  public ServerTls(SSLContext context, Executor workers) {
    this.context = context;
    this.workers = workers;
  }

  @Override
  public boolean isStartTLS() {
    return true;
  }

  @Override
  public boolean supportsEncryption() {
    return true;
  }

  @Override
  public String[] getEnabledCipherSuites() {
    return context.getDefaultSSLParameters().getCipherSuites();
  }

  @Override
  public ClientAuth getClientAuth() {
    return ClientAuth.NONE;
  }

  @Override
  public SslHandler sslHandler() {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    engine.setEnabledProtocols(PROTOCOLS);
    SslHandler handler = new SslHandler(engine, false, workers);
    handler.setHandshakeTimeout(MAX_HANDSHAKE_SECONDS, TimeUnit.SECONDS);
    return handler;
  }
}
