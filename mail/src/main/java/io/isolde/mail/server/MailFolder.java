// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.MailConsistency;
import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.login.PasswordHash;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * The folder of a mail server: its settings, its certificate, its log, and its ports while it runs.
 */
public final class MailFolder {

  /** The file with the ports, which is there when the server is ready. */
  public static final String STARTED = "started.properties";

  /** The file with all that the process prints. */
  public static final String LOG = "mail.log";

  public static final String SMTP_PORT = "smtp_port";
  public static final String POP3_PORT = "pop3_port";
  public static final String IMAP_PORT = "imap_port";
  public static final String ADDRESS = "address";
  public static final String DOMAIN = "domain";
  public static final String KEYSPACE = "keyspace";
  public static final String STORE = "store";
  public static final String NODES = "nodes";
  public static final String CQL_USER = "cql_user";
  public static final String CQL_PASSWORD = "cql_password";
  public static final String KEYSTORE = "keystore";
  public static final String KEYSTORE_PASSWORD = "keystore_password";
  public static final String PASSWORDS_IN_CLEAR = "passwords_in_clear";
  public static final String WORKERS = "workers";

  /** May be left out. */
  public static final String PASSWORD_ITERATIONS = "password_iterations";

  private static final String SETTINGS = "mail.properties";

  private final Path folder;

  public MailFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * What {@code mail.properties} says.
   *
   * @param passwordIterations of the hashes of new passwords; see {@link PasswordHash}
   */
  public record Settings(
      MailServerSettings server, MailStorage.Place place, String domain, int passwordIterations) {}

  /** A file of the folder. */
  public Path path(String name) {
    return folder.resolve(name);
  }

  /** Whether there are settings. */
  public boolean exists() {
    return Files.exists(path(SETTINGS));
  }

  /** Writes settings, which only the owner may read: there may be a password among them. */
  public void write(Properties settings) throws IOException {
    Path file = path(SETTINGS);
    Files.createDirectories(folder);
    if (!Files.exists(file)) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    try (var out = Files.newBufferedWriter(file)) {
      settings.store(out, "Settings of the mail server; see docs/mail.md");
    }
  }

  /**
   * Reads the settings.
   *
   * @throws IllegalArgumentException if one is missing or wrong
   */
  public Settings read() throws IOException, GeneralSecurityException {
    Properties all = properties();
    MailStorage.Place place = place(all);
    String domain = required(all, DOMAIN);
    MailServerSettings server =
        new MailServerSettings(
            required(all, ADDRESS),
            number(all, SMTP_PORT),
            number(all, POP3_PORT),
            number(all, IMAP_PORT),
            domain,
            Boolean.parseBoolean(required(all, PASSWORDS_IN_CLEAR)),
            tls(all),
            number(all, WORKERS),
            MailBounds.standard());
    return new Settings(server, place, domain, iterations(all));
  }

  /** The settings as they stand in the file. */
  public Properties properties() throws IOException {
    Properties all = new Properties();
    try (var in = Files.newBufferedReader(path(SETTINGS))) {
      all.load(in);
    }
    return all;
  }

  private static MailStorage.Place place(Properties all) {
    List<InetSocketAddress> nodes =
        Arrays.stream(required(all, NODES).split(",", -1)).map(MailFolder::node).toList();
    return new MailStorage.Place(
        nodes,
        Optional.ofNullable(all.getProperty(CQL_USER)),
        all.getProperty(CQL_PASSWORD, ""),
        required(all, KEYSPACE),
        MailConsistency.valueOf(required(all, STORE).toUpperCase(Locale.ROOT)));
  }

  private static InetSocketAddress node(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 1) {
      throw new IllegalArgumentException("\"%s\" is no node: say address:port.".formatted(text));
    }
    return new InetSocketAddress(
        text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
  }

  private static String required(Properties all, String name) {
    String value = all.getProperty(name);
    if (value == null || value.isBlank()) {
      throw new IllegalArgumentException("The setting %s is missing.".formatted(name));
    }
    return value;
  }

  private static int number(Properties all, String name) {
    try {
      return Integer.parseInt(required(all, name));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("The setting %s is no number.".formatted(name), e);
    }
  }

  private static int iterations(Properties all) {
    if (all.getProperty(PASSWORD_ITERATIONS) == null) {
      return PasswordHash.ITERATIONS;
    }
    int iterations = number(all, PASSWORD_ITERATIONS);
    if (iterations < 1 || iterations > PasswordHash.MAX_ITERATIONS) {
      throw new IllegalArgumentException(
          "The setting %s is 1 to %,d."
              .formatted(PASSWORD_ITERATIONS, PasswordHash.MAX_ITERATIONS));
    }
    return iterations;
  }

  private static Optional<SSLContext> tls(Properties all)
      throws IOException, GeneralSecurityException {
    String file = all.getProperty(KEYSTORE);
    if (file == null) {
      return Optional.empty();
    }
    return Optional.of(tls(Path.of(file), all.getProperty(KEYSTORE_PASSWORD, "")));
  }

  /** TLS with the key and the certificate of a PKCS12 file. */
  static SSLContext tls(Path file, String keystorePassword)
      throws IOException, GeneralSecurityException {
    char[] password = keystorePassword.toCharArray();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, password);
    }
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, password);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    return context;
  }
}
