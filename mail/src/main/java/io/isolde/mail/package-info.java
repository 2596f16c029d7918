// SPDX-License-Identifier: Apache-2.0
/**
 * A mail service over Cassandra, the example of the thesis carried on. {@link
 * io.isolde.mail.MailStore} is where mailboxes are kept; docs/mail.md has the rest.
 */
package io.isolde.mail;
