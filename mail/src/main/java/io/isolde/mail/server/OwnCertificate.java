// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

/**
 * A certificate that a server has signed itself. Clients that check certificates refuse it, but
 * passwords do not travel in clear.
 */
public final class OwnCertificate {
  private static final int MAX_SECONDS = 60;
  private static final String PASSWORD_VARIABLE = "ISOLDE_MAIL_KEYSTORE_PASSWORD";

  private OwnCertificate() {}

  /**
   * Makes a key and a certificate with Java's keytool, unless the file is there.
   *
   * @param keystore a PKCS12 file, which only its owner may read
   * @throws IOException if keytool can't be run or does not succeed
   */
  public static void createIfMissing(Path keystore, String hostName, String password)
      throws IOException {
    if (Files.exists(keystore)) {
      return;
    }
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    ProcessBuilder builder =
        new ProcessBuilder(
                keytool.toString(),
                "-genkeypair",
                "-alias",
                "mail",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                "3650",
                "-dname",
                "CN=" + hostName,
                "-ext",
                "san=dns:" + hostName,
                "-storetype",
                "PKCS12",
                "-storepass:env",
                PASSWORD_VARIABLE,
                "-keystore",
                keystore.toString())
            .redirectErrorStream(true);
    builder.environment().put(PASSWORD_VARIABLE, password);
    Process process = builder.start();
    String output;
    try (var in = process.inputReader()) {
      output = String.join(" ", in.lines().toList());
    }
    try {
      if (!process.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException("keytool did not end.");
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("Nobody waits for keytool any longer.", e);
    }
    if (process.exitValue() != 0) {
      throw new IOException("keytool made no certificate: " + output);
    }
    Files.setPosixFilePermissions(keystore, PosixFilePermissions.fromString("rw-------"));
  }
}
