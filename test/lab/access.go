package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// tokenLife is longer than any lab lives, so that nobody has to renew tokens.
const tokenLife = 365 * 24 * time.Hour

// Kubeconfig is the path of a kubeconfig file with an administrator's access.
func (l *Lab) Kubeconfig() string { return l.path(adminKubeconfigFile) }

// adminToken is as secret as the loopback port that it opens: it names the lab and no more.
func (l *Lab) adminToken() string { return "admin-of-" + filepath.Base(l.folder.path) }

// connect makes the administrator's access, once kube-apiserver has made its certificate.
func (l *Lab) connect() error {
	authority, err := os.ReadFile(filepath.Join(l.path(certDir), "apiserver.crt"))
	if err != nil {
		return fmt.Errorf("reading the certificate of kube-apiserver: %w", err)
	}
	l.config = &rest.Config{
		Host:            loopback("https", l.ports.apiServer, ""),
		BearerToken:     l.adminToken(),
		TLSClientConfig: rest.TLSClientConfig{CAData: authority},
		QPS:             -1,
	}
	if l.client, err = kubernetes.NewForConfig(l.config); err != nil {
		return fmt.Errorf("making the admin client: %w", err)
	}
	// Else the library complains that nobody has told it where to log.
	log.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	if l.objects, err = client.New(l.config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making the admin client for our kinds: %w", err)
	}
	return writeKubeconfig(l.Kubeconfig(), l.config)
}

// ServiceAccountConfig is access with exactly the rights of a service account, which must exist.
func (l *Lab) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenLife / time.Second)),
	}}
	token, err := l.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("requesting a token of service account %s/%s: %w", namespace, name, err)
	}
	config := l.Config()
	config.BearerToken = token.Status.Token
	return config, nil
}

// ServiceAccountKubeconfig writes a service account's access to a file and returns its path.
func (l *Lab) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	config, err := l.ServiceAccountConfig(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	path := l.path(fmt.Sprintf("%s.%s.kubeconfig", namespace, name))
	return path, writeKubeconfig(path, config)
}

func writeKubeconfig(path string, config *rest.Config) error {
	const name = "lab"
	file := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			name: {Server: config.Host, CertificateAuthorityData: config.CAData},
		},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: config.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(file, path); err != nil {
		return fmt.Errorf("writing kubeconfig: %w", err)
	}
	return nil
}
