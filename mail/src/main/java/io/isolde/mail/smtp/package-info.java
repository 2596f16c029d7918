// SPDX-License-Identifier: Apache-2.0
/** SMTP: who may send what to whom, and how a message comes into mailboxes. */
package io.isolde.mail.smtp;
