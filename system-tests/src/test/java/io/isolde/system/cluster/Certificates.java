// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A certificate that signs itself, for all nodes of a test cluster. */
final class Certificates {
  private static final String PASSWORD = "cassandra";
  private static final String TYPE = "PKCS12";

  private final Path store;

  private Certificates(Path store) {
    this.store = store;
  }

  static Certificates make(Path folder) throws IOException, InterruptedException {
    Path store = folder.resolve("nodes.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "node",
                "-keyalg",
                "RSA",
                "-validity",
                "365",
                "-dname",
                "CN=isolde-test",
                "-storetype",
                TYPE,
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .inheritIO()
            .start();
    assertThat(keytool.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(Files.exists(store)).isTrue();
    return new Certificates(store);
  }

  /** The value of {@code server_encryption_options} with which nodes show it to each other. */
  String betweenNodes() {
    return ("{internode_encryption: all, require_client_auth: true, store_type: %s,"
            + " keystore: %s, keystore_password: %s, truststore: %s, truststore_password: %s}")
        .formatted(TYPE, store, PASSWORD, store, PASSWORD);
  }

  /**
   * The value of {@code client_encryption_options} with which clients may speak TLS; whoever looks
   * whether a node has started doesn't.
   */
  String forClients() {
    return ("{enabled: true, optional: true, store_type: %s, keystore: %s,"
            + " keystore_password: %s}")
        .formatted(TYPE, store, PASSWORD);
  }

  /** What a client trusts that knows these nodes. */
  SSLContext trusting() throws GeneralSecurityException, IOException {
    KeyStore keys = KeyStore.getInstance(TYPE);
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    KeyStore trusted = KeyStore.getInstance(TYPE);
    trusted.load(null, null);
    trusted.setCertificateEntry("node", keys.getCertificate("node"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
