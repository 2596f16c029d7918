// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import java.util.Optional;
import org.apache.james.protocols.api.OidcSASLConfiguration;
import org.apache.james.protocols.smtp.SMTPConfiguration;

/** What James' commands ask about this server. */
record SmtpSettings(String hostName, int maxMessageBytes, boolean isClearAllowed)
    implements SMTPConfiguration {

  @Override
  public long getMaxMessageSize() {
    return maxMessageBytes;
  }

  /** Nothing is sent on to other servers. */
  @Override
  public boolean isRelayingAllowed(String client) {
    return false;
  }

  @Override
  public boolean isAuthAnnounced(String client, boolean isTlsStarted) {
    return isTlsStarted || isClearAllowed;
  }

  @Override
  public boolean useHeloEhloEnforcement() {
    return true;
  }

  @Override
  public boolean useAddressBracketsEnforcement() {
    return true;
  }

  @Override
  public boolean isPlainAuthEnabled() {
    return true;
  }

  @Override
  public Optional<OidcSASLConfiguration> saslConfiguration() {
    return Optional.empty();
  }

  @Override
  public String getGreeting() {
    return null;
  }

  @Override
  public String getHelloName() {
    return hostName;
  }

  @Override
  public String getSoftwareName() {
    return "Isolde mail";
  }
}
