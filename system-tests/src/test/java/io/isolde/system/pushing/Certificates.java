// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.pushing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** What a node with TLS needs, and its clients. */
final class Certificates {
  static final String PASSWORD = "keystore";

  private Certificates() {}

  /** Makes a key, and a certificate for the node's address. */
  static Path keystore(String address) throws Exception {
    Path keystore = Path.of("target/push-keystore.p12").toAbsolutePath();
    Files.deleteIfExists(keystore);
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "RSA",
                "-dname",
                "CN=isolde",
                "-ext",
                "san=ip:" + address,
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                keystore.toString())
            .inheritIO()
            .start();
    assertThat(keytool.waitFor()).isZero();
    return keystore;
  }

  /** For a client that trusts it. */
  static SSLContext trusting(Path keystore) throws Exception {
    TrustManagerFactory trusted =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    KeyStore store = KeyStore.getInstance(keystore.toFile(), PASSWORD.toCharArray());
    KeyStore certificates = KeyStore.getInstance("PKCS12");
    certificates.load(null, null);
    certificates.setCertificateEntry("node", store.getCertificate("mykey"));
    trusted.init(certificates);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trusted.getTrustManagers(), null);
    return context;
  }
}
